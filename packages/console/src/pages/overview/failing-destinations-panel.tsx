import { Badge } from '../../components/badge.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { DestinationLink } from '../../components/destination-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { countText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'
import type { FailingDestination } from './failing-destinations.ts'

export interface FailingDestinationsPanelProps {
  readonly failing: readonly FailingDestination[]
  /** Whether the operator service reported circuit breakers or dead letters. */
  readonly isKnown: boolean
}

/** The destinations that need attention, each with a link to its page. */
export function FailingDestinationsPanel({ failing, isKnown }: FailingDestinationsPanelProps) {
  return (
    <Panel title="Failing destinations" isWide>
      {failing.length > 0 ? (
        <DataTable
          caption="Failing destinations"
          rows={failing}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Destination', cell: ({ id }) => <DestinationLink id={id} /> },
            { title: 'Circuit breaker', cell: row => (row.hasOpenBreaker ? <Badge state="open" /> : undefined) },
            {
              title: 'Dead letters (among the newest 100 of the last hour)',
              isNumber: true,
              cell: row => countText(row.deadLetters),
            },
            { title: 'Last reason', cell: ({ reason }) => reason && <code>{reason}</code> },
            { title: 'Last dead letter', cell: ({ lastAt }) => lastAt && <Time at={lastAt} /> },
          ]}
        />
      ) : (
        <EmptyState title={isKnown ? 'No destination is failing.' : 'It is unknown whether destinations fail.'}>
          {isKnown
            ? 'No circuit breaker is open, and the last hour has no dead letters.'
            : 'The operator service did not send this information.'}
        </EmptyState>
      )}
    </Panel>
  )
}
