import { Link } from 'wouter-preact'
import type { DeadLetter } from '../../api/response-types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { DestinationLink } from '../../components/destination-link.tsx'
import { MessageLink } from '../../components/message-link.tsx'
import { Time } from '../../components/time.tsx'
import { hasDestination } from './dead-letter-filters.ts'

export function DeadLetterTable({ letters }: { readonly letters: readonly DeadLetter[] }) {
  return (
    <DataTable
      caption="Dead letters"
      rows={letters}
      keyOf={({ key }) => key}
      columns={[
        {
          title: 'Dead-lettered',
          cell: ({ key, at }) => (
            <Link href={`/dead-letters/${encodeURIComponent(key)}`}>
              <Time at={at} />
            </Link>
          ),
        },
        { title: 'Destination', cell: ({ destination: id }) => hasDestination(id) && <DestinationLink id={id} /> },
        { title: 'Message', cell: ({ messageId, at }) => messageId && <MessageLink id={messageId} at={at} /> },
        { title: 'Reason', cell: ({ reason }) => <code>{reason}</code> },
        { title: 'Outcome', cell: ({ outcome }) => outcome && <code>{outcome}</code> },
        { title: 'Type', cell: ({ type }) => type },
        { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
      ]}
    />
  )
}
