import { openLabels, overflowLabelValue, seriesBudget } from '../../../src/core/metrics/metric-spec-builders.ts'
import { type AnyMetric, metricGroups } from './metric-groups.ts'

const number = (value: number): string => value.toLocaleString('en-US')

const head = `# Metrics

This page lists all metrics that \`GET /metrics\` on [\`ops.listen\`](configuration.md#ops) returns. The format is Prometheus' text format, or OpenMetrics 1.0 with \`Accept: application/openmetrics-text\`. \`schemas/metrics.yaml\` is the same list for programs. This page is generated from the code
(\`npm run generate\`).

- Units are seconds, bytes and counts, never milliseconds. A metric that ends in \`_timestamp_seconds\` is a Unix time. In PromQL, \`time()\` minus the metric is the number of seconds since then.
- No label contains a URL, a user, an event name or other data from senders and customers.
- If this page lists the values of a label, the list is complete. [Errors and outcomes](errors.md) explains outcomes, reasons of dead letters and drops, causes of deferrals, and codes of responses. The consumer groups in \`group\` are \`dispatcher\` (reads the events topic), \`retries\` (reads the retry topics) and \`audiences\` (reads the audience input topic). The [glossary](glossary.md) explains the other terms.
- The following labels have no fixed list of values. The values depend on the configuration and the cluster. \`destination\`, \`webhook\` and \`source\` can also be \`${overflowLabelValue}\` (see the next section), and \`destination\` can be \`-\` if no destination is known:

${Object.entries(openLabels)
  .map(([name, { values }]) => `  - \`${name}\`: ${values}`)
  .join('\n')}

## Limits of the number of series
A process should expose at most ${number(seriesBudget.target)} series. A scrape of this number of series takes about five milliseconds and transfers half a megabyte. To stay below this number, Hookline limits the series with ids from the configuration:

- When a process has more than ${number(seriesBudget.maxBeforeWebhookOverflows)} of these series, the label \`webhook\` of each new series is \`${overflowLabelValue}\`. Above ${number(seriesBudget.maxOverflowing)}, the label \`destination\` or \`source\` of each new series is \`${overflowLabelValue}\` too. Sums stay correct.
- Gauges have no series with \`${overflowLabelValue}\`. For example, \`hookline_breaker_open\` does not show destinations above the limit.
- A series of a counter counts towards the limits until the process exits. A series of a gauge counts only while \`/metrics\` shows it.
- The alert \`HooklineSeriesFolded\` fires when a process has reached a limit: \`hookline_metrics_series_folded_total\` is then above 0.

## Meaning of \`use\`
The description of each metric below ends with one of these values. \`alert\`: a rule in \`deploy/helm/hookline/files/rules/\` uses the metric. \`dashboard\`: no rule uses the metric, but a panel in \`deploy/tools/dashboards/\` shows it. \`debug\`: no rule and no panel uses the metric; it helps to investigate a problem.
`

/** Returns the text of `docs/reference/metrics.md`. */
export function referenceText(): string {
  return [
    head,
    ...metricGroups.map(({ title, metrics }) => `## ${title}\n\n${metrics.map(sectionOf).join('\n')}`),
  ].join('\n')
}

function sectionOf({ name, kind, unit, use, help, labels, buckets, exemplar }: AnyMetric): string {
  const lines = [`### \`${name}\``, `${help.replace(/\.$/, '')}. ${sentence(kind)}, ${unit}; use: ${use}.`]
  for (const [label, values] of Object.entries(labels)) {
    const shown = 'canOverflow' in values ? values.values : values.map(value => `\`${value}\``).join(', ')
    lines.push(`- \`${label}\`: ${shown}`)
  }
  if (buckets.length > 0) lines.push(`- upper bounds of buckets: ${buckets.map(bound => `\`${bound}\``).join(', ')}`)
  if (exemplar) lines.push('- exemplars in OpenMetrics: `trace_id` of a sampled trace')
  return `${lines.join('\n')}\n`
}

const sentence = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
