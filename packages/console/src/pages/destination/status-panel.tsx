import { Link } from 'wouter-preact'
import type { DestinationStatus } from '../../api/response-types.ts'
import { Badge } from '../../components/badge.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { Facts } from '../../components/list-of-names-and-values.tsx'
import { countText, rateText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'

/** The circuit breaker, requests and waiting deliveries of a destination. */
export function StatusPanel({ status }: { readonly status: DestinationStatus }) {
  const { circuitBreaker: breaker, requestsInProgress, inMemory, pace, pausedUntil, waiting, id } = status
  return (
    <Panel
      title="Status"
      actions={<Link href={`/dead-letters?destination=${encodeURIComponent(id)}`}>Dead letters</Link>}
    >
      {status.partial === true && (
        <PartialNotice>
          Numbers may be too low, and failed attempts may be missing: the search reached its limit of records or time,
          Kafka did not respond, or the operator service has just started. The page refreshes automatically.
        </PartialNotice>
      )}
      <Facts
        facts={[
          ['Circuit breaker', breaker && <Badge state={breaker.state} />],
          ...(breaker?.nextProbeAt === undefined
            ? []
            : ([['Next probe', <Time key="probe" at={breaker.nextProbeAt} />]] as const)),
          ['Requests in progress', requestsInProgress === undefined ? undefined : countText(requestsInProgress)],
          ['Deliveries waiting in memory', inMemory === undefined ? undefined : countText(inMemory)],
          ...(pace === undefined
            ? []
            : ([['Limit after a 429', `at most ${rateText(pace)} attempts/s (all processes together)`]] as const)),
          ...(pausedUntil === undefined
            ? []
            : ([['Pause because of a Retry-After header', <Pause key="pause" until={pausedUntil} />]] as const)),
        ]}
      />
      <h3>Deliveries waiting in retry topics</h3>
      {waiting.length === 0 ? (
        <p class="muted">Hookline found no deliveries that wait in retry topics.</p>
      ) : (
        <DataTable
          caption="Deliveries that wait in retry topics"
          rows={waiting}
          keyOf={({ tier }) => tier}
          columns={[
            { title: 'Wait before the retry', cell: ({ tier }) => <code>{tier}</code> },
            { title: 'Deliveries', isNumber: true, cell: ({ records }) => countText(records) },
            { title: 'Oldest delivery', cell: ({ oldestAt }) => oldestAt && <Time at={oldestAt} /> },
          ]}
        />
      )}
    </Panel>
  )
}

function Pause({ until }: { readonly until: string }) {
  return (
    <>
      no attempts until <Time at={until} />
    </>
  )
}
