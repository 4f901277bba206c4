import { EmptyState } from '../../components/empty-state.tsx'
import { Panel } from '../../components/panel.tsx'
import { RateChart } from './rate-chart.tsx'
import type { RateHistory } from './rate-history.ts'

export function RatesPanel({ history, isKnown }: { readonly history: RateHistory; readonly isKnown: boolean }) {
  return (
    <Panel title="Deliveries and failed attempts per second since you opened this page (at most 30 minutes)" isWide>
      {history.times.length > 0 && <RateChart history={history} />}
      {!isKnown && (
        <EmptyState title="The rates are not available.">
          The operator service did not send them. The Grafana dashboards show the rates.
        </EmptyState>
      )}
    </Panel>
  )
}
