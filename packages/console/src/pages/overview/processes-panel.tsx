import type { RunningProcess } from '../../api/response-types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { countText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'

const partitionCount = ({ partitions }: RunningProcess): string | undefined =>
  partitions === undefined ? undefined : countText(partitions)

export function ProcessesPanel({ processes }: { readonly processes: readonly RunningProcess[] | undefined }) {
  return (
    <Panel title="Processes" isWide>
      {processes === undefined || processes.length === 0 ? (
        <EmptyState title="No process has reported its status in the last 30 seconds." />
      ) : (
        <DataTable
          caption="Processes"
          rows={processes}
          keyOf={({ instance }) => instance}
          columns={[
            { title: 'Instance', cell: ({ instance }) => <span class="id">{instance}</span> },
            { title: 'Services', cell: ({ services }) => services.join(', ') },
            { title: 'Version', cell: ({ version }) => <code>{version}</code> },
            { title: 'Partitions', isNumber: true, cell: partitionCount },
            { title: 'Started', cell: ({ startedAt }) => startedAt && <Time at={startedAt} /> },
            { title: 'Last report', cell: ({ seenAt }) => seenAt && <Time at={seenAt} /> },
          ]}
        />
      )}
    </Panel>
  )
}
