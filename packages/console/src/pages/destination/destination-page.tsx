import { useSearch } from 'wouter-preact'
import type { ConfigObject, DestinationStatus } from '../../api/types.ts'
import { useData } from '../../api/use-data.ts'
import { Badge } from '../../components/badge.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { Page } from '../../components/page.tsx'
import { ProblemList } from '../../components/problem-list.tsx'
import { Time } from '../../components/time.tsx'
import { DestinationActions } from './destination-actions.tsx'
import { destinationPath } from './destination-path.ts'
import { DisabledNotice } from './disabled-notice.tsx'
import { FailuresPanel } from './failures-panel.tsx'
import { FirstDeliveryPanel } from './first-delivery-panel.tsx'
import { ResultsPanel } from './results-panel.tsx'
import { SettingsPanel } from './settings-panel.tsx'
import { StatusPanel } from './status-panel.tsx'

/** One destination: its status, its results and failures, and its settings. */
export function DestinationPage({ id }: { readonly id: string }) {
  const loaded = useData<ConfigObject>(destinationPath(id), 10_000)
  const status = useData<DestinationStatus>(`${destinationPath(id)}/status`, 5000)
  const isNew = new URLSearchParams(useSearch()).has('new')
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
            {found.problems.length > 0 && (
              <div class="error panel-wide">
                <p>Hookline does not use this destination until these problems are corrected:</p>
                <ProblemList problems={found.problems} />
              </div>
            )}
            {found.disabledAutomatically && <DisabledNotice disabling={found.disabledAutomatically} />}
            {isNew && <FirstDeliveryPanel object={found} status={status.data} />}
            <LoadedData loaded={status} what="the status of the destination">
              {current => (
                <>
                  <StatusPanel status={current} />
                  <ResultsPanel results={current.results} />
                  <FailuresPanel failures={current.lastFailures} />
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
  const { state, origin, version, changedBy, changedAt } = object
  const breaker = status?.circuitBreaker?.state
  return (
    <>
      <Badge state={state} />
      {breaker !== undefined && breaker !== 'closed' && <Badge of="circuit breaker" state={breaker} />}
      {origin === 'file' ? (
        <span>Defined in the configuration file, so it is read-only here.</span>
      ) : (
        <span>
          Version {version}
          {changedBy !== undefined && `, changed by ${changedBy}`}
          {changedAt !== undefined && (
            <>
              {' '}
              at <Time at={changedAt} />
            </>
          )}
        </span>
      )}
    </>
  )
}
