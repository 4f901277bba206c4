import { useEffect, useState } from 'preact/hooks'
import { pathWith } from '../../api/query-parameters.ts'
import type { InstallationStatus, PageOfDeadLetters } from '../../api/response-types.ts'
import { useData } from '../../api/use-data.ts'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { partOfTotalText } from '../../components/number-text.ts'
import { Page } from '../../components/page.tsx'
import { Time } from '../../components/time.tsx'
import { BacklogPanels } from './backlog-panels.tsx'
import { failingDestinations } from './failing-destinations.ts'
import { FailingDestinationsPanel } from './failing-destinations-panel.tsx'
import { InstallationFigures } from './installation-figures.tsx'
import { noFailingText } from './no-failing-destinations-text.ts'
import { ObjectProblemsPanel } from './object-problems-panel.tsx'
import { ObjectsPanel } from './objects-panel.tsx'
import { ProcessesPanel } from './processes-panel.tsx'
import { noRates, withRates } from './rate-history.ts'
import { RatesPanel } from './rates-panel.tsx'

export function OverviewPage() {
  const loaded = useData<InstallationStatus>('/v1/status', 5000)
  const letters = useData<PageOfDeadLetters>(pathWith('/v1/dead-letters', { since: '1h', limit: 100 }), 15_000)
  const [history, setHistory] = useState(noRates)
  const { data } = loaded
  useEffect(() => {
    if (data !== undefined) setHistory(before => withRates(before, data))
  }, [data])
  const failing = failingDestinations(data, letters.data?.deadLetters ?? [])
  return (
    <Page
      title="Overview"
      summary={
        data && (
          <>
            Hookline {data.version}, as of <Time at={data.at} />
          </>
        )
      }
    >
      <LoadedData loaded={loaded} what="the status">
        {status => (
          <div class="panels">
            {status.partial === true && (
              <PartialNotice>
                Some numbers may be missing or too low: Kafka did not respond in time, or the operator service has just
                started. The page refreshes automatically. If this notice stays, check Kafka.
              </PartialNotice>
            )}
            <InstallationFigures status={status} />
            <FailingDestinationsPanel
              failing={failing}
              openBreakers={partOfTotalText(status.openBreakers, status.openBreakerCount)}
              hasDeadLetters={letters.data !== undefined}
              none={noFailingText(status, letters.data)}
            />
            <RatesPanel history={history} isKnown={status.rates !== undefined} />
            <ObjectsPanel status={status} />
            <ObjectProblemsPanel status={status} />
            <BacklogPanels status={status} />
            <ProcessesPanel processes={status.services} />
          </div>
        )}
      </LoadedData>
    </Page>
  )
}
