import type { AnyJob } from '../../api/job-types.ts'
import { DestinationLink } from '../../components/destination-link.tsx'
import { Facts } from '../../components/list-of-names-and-values.tsx'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'
import { filterText } from '../dead-letters/dead-letter-filters.ts'
import { jobRateText, missingText } from './job-texts-and-order.ts'

/** What a job replays or resends, and when it was created, started and ended. */
export function JobFacts({ job }: { readonly job: AnyJob }) {
  const { createdAt, createdBy, startedAt, endedAt } = job
  return (
    <Panel title="Job" isWide>
      <Facts
        facts={[
          ...selectionOf(job),
          ['Rate limit', jobRateText(job)],
          ['Created', <Time at={createdAt} />],
          ['Created by', createdBy],
          ['Started', startedAt && <Time at={startedAt} />],
          ['Ended', endedAt && <Time at={endedAt} />],
        ]}
      />
    </Panel>
  )
}

function selectionOf(job: AnyJob) {
  if (job.kind === 'replay') return [['Selection', <span class="id">{filterText(job.filters)}</span>]] as const
  const { destination, since, until, types, userIds, userCount, missing } = job
  return [
    ['Destination', <DestinationLink id={destination} />],
    ['From', <Time at={since} />],
    ['To', <Time at={until} />],
    ['Types', types?.join(', ') ?? 'all'],
    ['Users', userIds?.join(', ') ?? (userCount === undefined ? 'all' : `${userCount} ids`)],
    ['Events that the resend may have missed (deleted by Kafka)', missingText(missing)],
  ] as const
}
