import type { DestinationStatus, Results } from '../../api/response-types.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { countText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { type Share, ShareBar } from '../../components/stacked-bar.tsx'

const sharesOf = (results: Results): readonly Share[] => [
  { name: 'Delivered', count: results.delivered, tone: 'ok' },
  { name: 'Failed attempts', count: results.failed, tone: 'warn' },
  { name: 'Dead-lettered', count: results.deadLettered, tone: 'bad' },
  { name: 'Dropped', count: results.dropped, tone: 'plain' },
]

export function ResultsPanel({ results }: { readonly results: DestinationStatus['results'] }) {
  return (
    <Panel title="Results">
      {results === undefined ? (
        <EmptyState title="The results are not available.">
          The operator service did not send them. Its version may be older than that of the console. The Grafana
          dashboards show the results.
        </EmptyState>
      ) : (
        <>
          <ResultsOfSpan title="Last hour (60 to 75 minutes)" results={results.lastHour} />
          <ResultsOfSpan title="Last 24 hours (up to 15 minutes more)" results={results.lastDay} />
        </>
      )}
    </Panel>
  )
}

function ResultsOfSpan({ title, results }: { readonly title: string; readonly results: Results }) {
  const shares = sharesOf(results)
  return (
    <div class="results">
      <h3>{title}</h3>
      <ShareBar shares={shares} />
      <dl class="legend">
        {shares.map(({ name, count, tone }) => (
          <div key={name}>
            <dt>
              <span class={`dot dot-${tone}`} aria-hidden="true" /> {name}
            </dt>
            <dd>{countText(count)}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
