import { useLocation } from 'wouter-preact'
import { pathWith } from '../../api/query-parameters.ts'
import type { ChangeList, ObjectChange } from '../../api/recorded-object-change-types.ts'
import { useData } from '../../api/use-data.ts'
import { DataTable } from '../../components/data-table.tsx'
import { DestinationLink } from '../../components/destination-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { Page } from '../../components/page.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { Time } from '../../components/time.tsx'
import { useQuery } from '../../layout/use-address-query.ts'

const spans = [
  ['24h', 'Last 24 hours'],
  ['168h', 'Last 7 days'],
  ['720h', 'Last 30 days'],
  ['', 'All'],
] as const

/** Who changed which fields of destinations and sources, newest first. */
export function ChangesPage() {
  const [, navigate] = useLocation()
  const since = new URLSearchParams(useQuery()).get('since') ?? ''
  const loaded = useData<ChangeList>(pathWith('/v1/changes', { since }), 10_000)
  return (
    <Page title="Changes">
      <form class="filters" aria-label="Filter changes" onSubmit={event => event.preventDefault()}>
        <SelectField
          label="Time"
          value={since}
          options={spans}
          onInput={value => navigate(pathWith('/changes', { since: value }), { replace: true })}
        />
      </form>
      <div class="panel panel-wide">
        <LoadedData loaded={loaded} what="changes" isList>
          {({ changes, partial }) =>
            changes.length === 0 ? (
              <EmptyState title="The list has no changes in this time span.">
                The list shows the changes that were made in the console or through the operator API, and the
                destinations that Hookline disabled automatically. It does not show changes of the configuration file.
                Changes that are older than 7 days may be missing.
              </EmptyState>
            ) : (
              <>
                {partial === true && (
                  <PartialNotice>
                    The list has only the newest changes of this time span. For older changes, search the audit log of
                    Hookline.
                  </PartialNotice>
                )}
                <ChangeTable changes={changes} />
              </>
            )
          }
        </LoadedData>
      </div>
    </Page>
  )
}

function ChangeTable({ changes }: { readonly changes: readonly ObjectChange[] }) {
  return (
    <DataTable
      caption="Changes"
      rows={changes}
      keyOf={({ kind, id, version, at }) => `${kind} ${id} ${version} ${at}`}
      columns={[
        { title: 'Time', cell: ({ at }) => <Time at={at} /> },
        { title: 'Changed by', cell: ({ by }) => by },
        { title: 'Change', cell: ({ action, kind }) => `${kind} ${action}` },
        {
          title: 'Object',
          cell: ({ kind, id, action }) =>
            kind === 'destination' && action !== 'deleted' ? <DestinationLink id={id} /> : <span class="id">{id}</span>,
        },
        { title: 'Version', isNumber: true, cell: ({ version }) => version },
        {
          title: 'Changed fields',
          cell: ({ fields }) => (fields.length === 0 ? undefined : <code>{fields.join(', ')}</code>),
        },
      ]}
    />
  )
}
