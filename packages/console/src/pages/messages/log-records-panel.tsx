import type { LogRecord } from '../../api/response-types.ts'
import { Badge } from '../../components/badge.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'

/** The records of a message in Kafka. */
export function LogRecordsPanel({ records }: { readonly records: readonly LogRecord[] }) {
  return (
    <Panel title="Records in Kafka" isWide>
      {records.length === 0 ? (
        <EmptyState title="The search found no record of this message in Kafka." />
      ) : (
        <DataTable
          caption="Records of this message in Kafka"
          rows={records}
          keyOf={({ topic, partition, offset }) => `${topic} ${partition} ${offset}`}
          columns={[
            { title: 'Time', cell: ({ at }) => <Time at={at} /> },
            { title: 'Record', cell: ({ kind }) => <Badge state={kind} /> },
            { title: 'Destination', cell: ({ destination }) => destination && <span class="id">{destination}</span> },
            { title: 'Topic', cell: ({ topic }) => <code>{topic}</code> },
            { title: 'Partition', isNumber: true, cell: ({ partition }) => partition },
            { title: 'Offset', isNumber: true, cell: ({ offset }) => offset },
          ]}
        />
      )}
    </Panel>
  )
}
