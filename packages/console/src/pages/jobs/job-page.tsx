import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { type AnyJob, isActive } from '../../api/job-types.ts'
import { useChange } from '../../api/use-change.ts'
import { useData } from '../../api/use-data.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { useCanOperate } from '../../session/session-context.ts'
import { JobFacts } from './job-facts.tsx'
import { JobProgress } from './job-progress.tsx'
import { titleOf } from './job-texts-and-order.ts'

/** One job with its progress and a cancel button. `list` is `replays` or `resends`. */
export function JobPage({ list, id }: { readonly list: string; readonly id: string }) {
  const canOperate = useCanOperate()
  const path = `/v1/${list === 'resends' ? 'resends' : 'replays'}/${encodeURIComponent(id)}`
  const loaded = useData<AnyJob>(path, 2000)
  const { send, isRunning, error } = useChange()
  const [isAsking, setAsking] = useState(false)
  const { data } = loaded
  const cancel = async (): Promise<void> => {
    if ((await send('DELETE', path)) === undefined) return
    setAsking(false)
    loaded.reload()
  }
  const title = data === undefined ? 'Job' : titleOf(data)
  return (
    <Page
      title={`${title} ${id}`}
      summary={<Link href="/jobs">All jobs</Link>}
      actions={
        canOperate &&
        data !== undefined &&
        isActive(data) &&
        data.cancelRequested !== true && (
          <Button kind="danger" onClick={() => setAsking(true)}>
            Cancel the job
          </Button>
        )
      }
    >
      <LoadedData loaded={loaded} what="the job">
        {job => (
          <div class="panels">
            <Panel title="Progress" isWide>
              <JobProgress job={job} />
            </Panel>
            <JobFacts job={job} />
          </div>
        )}
      </LoadedData>
      {isAsking && (
        <ConfirmDialog
          title="Cancel the job"
          action="Cancel the job"
          isDangerous
          isRunning={isRunning}
          error={error}
          onConfirm={() => void cancel()}
          onClose={() => setAsking(false)}
        >
          <p>
            The job stops. Hookline still delivers the messages that the job has already written to a topic for
            delivery.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  )
}
