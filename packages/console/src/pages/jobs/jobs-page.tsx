import { Link } from 'wouter-preact'
import { type AnyJob, jobListName, type Replay, type Resend } from '../../api/job-types.ts'
import { useData } from '../../api/use-data.ts'
import { Badge } from '../../components/badge.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorMessage } from '../../components/error-message.tsx'
import { Loading } from '../../components/loading.tsx'
import { Page } from '../../components/page.tsx'
import { Time } from '../../components/time.tsx'
import { useCanOperate } from '../../session/session-context.ts'
import { filterText } from '../dead-letters/dead-letter-filters.ts'
import { newestFirst, progressText, titleOf } from './job-texts-and-order.ts'

/** All replays and resends, newest first. */
export function JobsPage() {
  const canOperate = useCanOperate()
  const replays = useData<{ readonly replays: readonly Replay[] }>('/v1/replays', 3000)
  const resends = useData<{ readonly resends: readonly Resend[] }>('/v1/resends', 3000)
  const jobs = newestFirst(replays.data?.replays ?? [], resends.data?.resends ?? [])
  const isLoading = replays.data === undefined && resends.data === undefined && !(replays.error && resends.error)
  return (
    <Page
      title="Jobs"
      actions={
        canOperate && (
          <Link href="/resend" class="button button-primary">
            Resend events
          </Link>
        )
      }
    >
      <div class="panel panel-wide">
        {replays.error !== undefined && <ErrorMessage error={replays.error} listOf="replays" />}
        {resends.error !== undefined && <ErrorMessage error={resends.error} listOf="resends" />}
        {isLoading && <Loading what="jobs" />}
        {jobs.length > 0 && <JobTable jobs={jobs} />}
        {jobs.length === 0 && !isLoading && replays.error === undefined && (
          <EmptyState title="There are no jobs.">
            A job is a replay of dead letters, or a resend of events to one destination.
          </EmptyState>
        )}
      </div>
    </Page>
  )
}

function JobTable({ jobs }: { readonly jobs: readonly AnyJob[] }) {
  return (
    <DataTable
      caption="Jobs"
      rows={jobs}
      keyOf={({ kind, id }) => `${kind} ${id}`}
      columns={[
        {
          title: 'Job',
          cell: job => (
            <Link href={`/jobs/${jobListName(job)}/${encodeURIComponent(job.id)}`} class="id">
              {titleOf(job)} {job.id}
            </Link>
          ),
        },
        { title: 'State', cell: ({ state }) => <Badge state={state} /> },
        {
          title: 'Selection',
          cell: job => <span class="id">{job.kind === 'replay' ? filterText(job.filters) : job.destination}</span>,
        },
        { title: 'Progress', cell: progressText },
        { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: 'Created by', cell: ({ createdBy }) => createdBy },
      ]}
    />
  )
}
