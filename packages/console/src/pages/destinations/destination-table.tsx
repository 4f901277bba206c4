import type { ConfigObject } from '../../api/response-types.ts'
import { Badge } from '../../components/badge.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { DestinationLink } from '../../components/destination-link.tsx'
import { Time } from '../../components/time.tsx'
import { sourcesOf, urlsOf } from './document-sources-and-urls.ts'

export interface DestinationTableProps {
  readonly destinations: readonly ConfigObject[]
  readonly openBreakers: readonly string[]
}

export function DestinationTable({ destinations, openBreakers }: DestinationTableProps) {
  const open = new Set(openBreakers)
  return (
    <DataTable
      caption="Destinations"
      rows={destinations}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Destination', cell: ({ id }) => <DestinationLink id={id} /> },
        {
          title: 'State',
          cell: ({ id, state }) => (
            <span class="badges">
              <Badge state={state} />
              {open.has(id) && <Badge of="circuit breaker" state="open" />}
            </span>
          ),
        },
        { title: 'Sources', cell: row => <Several values={sourcesOf(row)} /> },
        { title: 'Webhooks', cell: row => <Several values={urlsOf(row)} /> },
        {
          title: 'Changed',
          cell: row =>
            row.origin === 'file' ? 'not recorded (defined in the configuration file)' : <Time at={row.changedAt} />,
        },
      ]}
    />
  )
}

/** Shows the first value, and the number of the others. */
function Several({ values }: { readonly values: readonly string[] }) {
  const [first, ...others] = values
  if (first === undefined) return null
  return (
    <span class="code one-line" title={values.join('\n')}>
      {first}
      {others.length > 0 && <span class="muted"> and {others.length} more</span>}
    </span>
  )
}
