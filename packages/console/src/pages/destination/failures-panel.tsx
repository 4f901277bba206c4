import type { Attempt } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { MessageLink } from '../../components/message-link.tsx'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'
import { durationText } from '../../components/time-text.ts'

/** The last failed attempts of a destination, each with a link to its message. */
export function FailuresPanel({ failures }: { readonly failures: readonly Attempt[] | undefined }) {
  return (
    <Panel title="Last failed attempts" isWide>
      {failures === undefined && (
        <EmptyState title="The operator service does not report failed attempts.">
          Kafka did not respond, or the operator service cannot read the attempts topic.
        </EmptyState>
      )}
      {failures?.length === 0 && (
        <EmptyState title="No failed attempt is recorded.">
          Kafka keeps these records for 7 days. If delivery.attemptsTopic is "off", Hookline does not write them.
        </EmptyState>
      )}
      {failures !== undefined && failures.length > 0 && (
        <DataTable
          caption="Last failed attempts"
          rows={failures}
          keyOf={({ at, messageId, webhook, number }) => `${at} ${messageId} ${webhook} ${number}`}
          columns={[
            { title: 'Time', cell: ({ at }) => <Time at={at} /> },
            { title: 'Message', cell: ({ messageId, at }) => messageId && <MessageLink id={messageId} at={at} /> },
            { title: 'Attempt', isNumber: true, cell: ({ number }) => number },
            { title: 'Outcome', cell: ({ outcome }) => <code>{outcome}</code> },
            { title: 'Status', isNumber: true, cell: ({ status }) => status },
            {
              ...{ title: 'Duration', isNumber: true },
              cell: ({ durationMs }) => (durationMs === undefined ? undefined : durationText(durationMs)),
            },
            { title: 'Decision', cell: ({ decision, reason }) => decision && <Decision {...{ decision, reason }} /> },
          ]}
        />
      )}
    </Panel>
  )
}

function Decision({ decision, reason }: { readonly decision: string; readonly reason: string | undefined }) {
  return (
    <>
      <span class="nowrap">{decision.replaceAll('_', ' ')}</span>
      {reason !== undefined && (
        <>
          : <code>{reason}</code>
        </>
      )}
    </>
  )
}
