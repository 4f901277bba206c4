import type { Audience, AudienceList } from '../../api/response-types.ts'
import { useData } from '../../api/use-data.ts'
import { DataTable } from '../../components/data-table.tsx'
import { DestinationLink } from '../../components/destination-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { countText } from '../../components/number-text.ts'
import { Page } from '../../components/page.tsx'
import { Time } from '../../components/time.tsx'
import { audienceRows } from './audience-rows.ts'

const count = (value: number | undefined): string | undefined => (value === undefined ? undefined : countText(value))

/** The audiences with the sync status of each destination. */
export function AudiencesPage() {
  const loaded = useData<AudienceList>('/v1/audiences', 30_000)
  return (
    <Page title="Audiences">
      <div class="panel panel-wide">
        <LoadedData loaded={loaded} what="audiences" isList>
          {({ audiences, partial }) =>
            audiences.length === 0 ? (
              <EmptyState title="There are no audiences.">
                To add an audience, list it in audiences.list of the configuration.
              </EmptyState>
            ) : (
              <>
                {partial === true && (
                  <PartialNotice>
                    Hookline has not counted the members yet. The page refreshes automatically, and shows the numbers as
                    soon as Hookline has counted them.
                  </PartialNotice>
                )}
                <DataTable
                  caption="Audiences by destination"
                  rows={audienceRows(audiences)}
                  keyOf={({ audience, destination }) => `${audience.name} ${destination?.id}`}
                  columns={[
                    { title: 'Audience', cell: ({ audience }) => audience.name },
                    { title: 'Kind', cell: ({ audience }) => audience.kind },
                    { title: 'Last sync', cell: ({ audience }) => <LastSync audience={audience} /> },
                    {
                      title: 'Destination',
                      cell: row => row.destination && <DestinationLink id={row.destination.id} />,
                    },
                    { title: 'Members', isNumber: true, cell: row => count(row.destination?.members) },
                    { title: 'Acknowledged', isNumber: true, cell: row => count(row.destination?.acknowledged) },
                    { title: 'In flight', isNumber: true, cell: row => count(row.destination?.inFlight) },
                    { title: 'Unknown', isNumber: true, cell: row => count(row.destination?.unknown) },
                    { title: 'Different', isNumber: true, cell: row => count(row.destination?.different) },
                  ]}
                />
                <p class="muted">
                  The columns count users. Members: users who should be in the audience or have the trait. Acknowledged:
                  the destination has the correct value. In flight: Hookline is delivering the correct value. Unknown:
                  Hookline does not know the value at the destination; the next full sync sends the correct value again.
                  Different: the destination has an old value; enable the destination, and run a full sync.
                </p>
              </>
            )
          }
        </LoadedData>
      </div>
    </Page>
  )
}

/** The start of the last sync. Empty while the operator service has not read the memberships. */
function LastSync({ audience }: { readonly audience: Audience }) {
  const at = audience.lastSync?.beganAt
  if (audience.lastSync === undefined) return undefined
  return at === undefined ? <span class="muted">never</span> : <Time at={at} />
}
