import { Link } from 'wouter-preact'
import type { DestinationStatus } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Facts } from '../../components/facts.tsx'
import { countText, rateText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { PartialNotice } from '../../components/partial-notice.tsx'
import { Time } from '../../components/time.tsx'

/** What a destination does now: its circuit breaker, its requests, and what waits. */
export function StatusPanel({ status }: { readonly status: DestinationStatus }) {
  const { circuitBreaker: breaker, requestsInProgress, inMemory, pace, waiting, id } = status
  return (
    <Panel
      title="Status"
      actions={<Link href={`/dead-letters?destination=${encodeURIComponent(id)}`}>Dead letters</Link>}
    >
      {status.partial === true && (
        <PartialNotice>Kafka was not read completely in time, so numbers may be too low.</PartialNotice>
      )}
      <Facts
        facts={[
          ['Circuit breaker', breaker && <Badge state={breaker.state} />],
          ...(breaker?.nextProbeAt === undefined
            ? []
            : ([['Next probe', <Time key="probe" at={breaker.nextProbeAt} />]] as const)),
          ['Requests in progress', requestsInProgress === undefined ? undefined : countText(requestsInProgress)],
          ['Deliveries in memory', inMemory === undefined ? undefined : countText(inMemory)],
          ['Pace after a 429', pace === undefined ? undefined : `${rateText(pace)} attempts per second`],
        ]}
      />
      <h3>Waiting for a retry</h3>
      {waiting.length === 0 ? (
        <p class="muted">Nothing waits.</p>
      ) : (
        <DataTable
          caption="Deliveries that wait for a retry"
          rows={waiting}
          keyOf={({ tier }) => tier}
          columns={[
            { title: 'Tier', cell: ({ tier }) => <code>{tier}</code> },
            { title: 'Deliveries', isNumber: true, cell: ({ records }) => countText(records) },
            { title: 'Oldest', cell: ({ oldestAt }) => oldestAt && <Time at={oldestAt} /> },
          ]}
        />
      )}
    </Panel>
  )
}
