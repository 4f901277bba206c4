import { Link } from 'wouter-preact'
import { pathWith } from '../../api/query-parameters.ts'
import type { InstallationStatus, PageOfDestinations } from '../../api/response-types.ts'
import { useData } from '../../api/use-data.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { partOfTotalText } from '../../components/number-text.ts'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { useQuery } from '../../layout/use-address-query.ts'
import { useCanOperate } from '../../session/session-context.ts'
import { DestinationFilterForm } from './destination-filter-form.tsx'
import { filtersOf } from './destination-filters.ts'
import { DestinationTable } from './destination-table.tsx'

/** All destinations in pages of 100. The address has the search and the filters. */
export function DestinationsPage() {
  const canOperate = useCanOperate()
  const filters = filtersOf(useQuery())
  const loaded = useData<PageOfDestinations>(pathWith('/v1/destinations', { limit: 100, ...filters }), 10_000)
  const status = useData<InstallationStatus>('/v1/status', 10_000)
  const partOfTotal = partOfTotalText(status.data?.openBreakers, status.data?.openBreakerCount)
  const isFiltered = filters.q !== '' || filters.state !== '' || filters.source !== ''
  return (
    <Page
      title="Destinations"
      actions={
        canOperate && (
          <Link href="/new-destination" class="button button-primary">
            Add a destination
          </Link>
        )
      }
    >
      <DestinationFilterForm filters={filters} />
      <div class="panel panel-wide">
        <LoadedData loaded={loaded} what="destinations">
          {({ destinations, next }) => (
            <>
              {destinations.length > 0 && partOfTotal !== undefined && (
                <PartialNotice>
                  {`The table shows only ${partOfTotal} open circuit breakers: those of the destinations with the lowest ids.`}
                </PartialNotice>
              )}
              {destinations.length > 0 && (
                <DestinationTable destinations={destinations} openBreakers={status.data?.openBreakers ?? []} />
              )}
              {destinations.length === 0 && isFiltered && (
                <EmptyState title="No destination matches the filters.">
                  <Link href="/destinations">Show all destinations</Link>
                </EmptyState>
              )}
              {destinations.length === 0 && !isFiltered && (
                <EmptyState title="There are no destinations yet.">
                  A destination is a receiver of the events of one or more sources.
                </EmptyState>
              )}
              <Pager path="/destinations" query={{ ...filters }} next={next} what="destinations" />
            </>
          )}
        </LoadedData>
      </div>
    </Page>
  )
}
