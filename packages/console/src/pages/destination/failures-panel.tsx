import type { DestinationStatus } from '../../api/response-types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { MessageLink } from '../../components/message-link.tsx'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'
import { durationText } from '../../components/time-text-and-input-values.ts'
import { noFailuresText } from './no-failures-text.ts'

/** The last failed attempts, each with a link to its message. */
export function FailuresPanel({ status }: { readonly status: DestinationStatus }) {
  const { lastFailures = [] } = status
  const none = noFailuresText(status)
  return (
    <Panel title="Last failed attempts" isWide>
      {none !== undefined && <EmptyState title={none.title}>{none.reason}</EmptyState>}
      {lastFailures.length > 0 && (
        <DataTable
          caption="Last failed attempts"
          rows={lastFailures}
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
