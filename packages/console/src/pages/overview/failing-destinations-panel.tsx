import { Badge } from '../../components/badge.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { DestinationLink } from '../../components/destination-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { countText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'
import type { FailingDestination } from './failing-destinations.ts'
import type { NoFailingText } from './no-failing-destinations-text.ts'

export interface FailingDestinationsPanelProps {
  readonly failing: readonly FailingDestination[]
  /**
   * How many of the destinations with an open circuit breaker are in `failing`, for example `100 of
   * 5,000`; `undefined` if all are.
   */
  readonly openBreakers: string | undefined
  /** Whether the numbers of dead letters are known. If not, the table leaves them empty. */
  readonly hasDeadLetters: boolean
  /** Shown instead of the table when `failing` is empty. */
  readonly none: NoFailingText
}

/** The destinations that need attention, each with a link to its page. */
export function FailingDestinationsPanel(props: FailingDestinationsPanelProps) {
  const { failing, openBreakers, hasDeadLetters, none } = props
  return (
    <Panel title="Failing destinations" isWide>
      {openBreakers !== undefined && (
        <PartialNotice>{`The table shows only ${openBreakers} destinations with an open circuit breaker.`}</PartialNotice>
      )}
      {failing.length > 0 ? (
        <DataTable
          caption="Failing destinations"
          rows={failing}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Destination', cell: ({ id }) => <DestinationLink id={id} /> },
            { title: 'Circuit breaker', cell: row => (row.hasOpenBreaker ? <Badge state="open" /> : undefined) },
            {
              title: 'Dead letters in the last hour (counts only the newest 100 of all destinations)',
              isNumber: true,
              cell: row => (hasDeadLetters ? countText(row.deadLetters) : undefined),
            },
            { title: 'Last reason', cell: ({ reason }) => reason && <code>{reason}</code> },
            { title: 'Last dead letter', cell: ({ lastAt }) => lastAt && <Time at={lastAt} /> },
          ]}
        />
      ) : (
        <EmptyState title={none.title}>{none.reason}</EmptyState>
      )}
    </Panel>
  )
}
