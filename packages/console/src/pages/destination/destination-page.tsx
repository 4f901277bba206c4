import { destinationPath } from '../../api/object-path.ts'
import type { ConfigObject, DestinationStatus } from '../../api/response-types.ts'
import { useData } from '../../api/use-data.ts'
import { Badge } from '../../components/badge.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { Page } from '../../components/page.tsx'
import { useQuery } from '../../layout/use-address-query.ts'
import { ObjectSummary } from '../objects/object-summary.tsx'
import { ProblemsNotice } from '../objects/problems-notice.tsx'
import { SettingsPanel } from '../objects/settings-panel.tsx'
import { DestinationActions } from './destination-actions.tsx'
import { DisabledNotice } from './disabled-notice.tsx'
import { FailuresPanel } from './failures-panel.tsx'
import { FirstDeliveryPanel } from './first-delivery-panel.tsx'
import { HourlyResultsPanel } from './hourly-results-panel.tsx'
import { ResultsPanel } from './results-panel.tsx'
import { StatusPanel } from './status-panel.tsx'

export function DestinationPage({ id }: { readonly id: string }) {
  const loaded = useData<ConfigObject>(destinationPath(id), 10_000)
  const status = useData<DestinationStatus>(`${destinationPath(id)}/status`, 5000)
  const isNew = new URLSearchParams(useQuery()).has('new')
  const { data: object } = loaded
  const reload = (): void => {
    loaded.reload()
    status.reload()
  }
  return (
    <Page
      title={id}
      summary={object && <Summary object={object} status={status.data} />}
      actions={object && <DestinationActions object={object} onChanged={reload} />}
    >
      <LoadedData loaded={loaded} what="the destination">
        {found => (
          <div class="panels">
            <ProblemsNotice object={found} />
            {found.disabledAutomatically && <DisabledNotice disabling={found.disabledAutomatically} />}
            {isNew && <FirstDeliveryPanel object={found} status={status.data} />}
            <LoadedData loaded={status} what="the status of the destination">
              {current => (
                <>
                  <StatusPanel status={current} />
                  <ResultsPanel results={current.results} />
                  <HourlyResultsPanel id={id} />
                  <FailuresPanel status={current} />
                </>
              )}
            </LoadedData>
            <SettingsPanel object={found} onChanged={reload} />
          </div>
        )}
      </LoadedData>
    </Page>
  )
}

interface SummaryProps {
  readonly object: ConfigObject
  readonly status: DestinationStatus | undefined
}

function Summary({ object, status }: SummaryProps) {
  const breaker = status?.circuitBreaker?.state
  return (
    <ObjectSummary object={object}>
      {breaker !== undefined && breaker !== 'closed' && <Badge of="circuit breaker" state={breaker} />}
    </ObjectSummary>
  )
}
