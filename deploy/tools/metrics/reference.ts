import { foldedInto, openLabels, seriesBudget } from '../../../src/core/metrics/spec.ts'
import { type AnyMetric, subjects } from './subjects.ts'

const number = (value: number): string => value.toLocaleString('en-US')

const head = `# Metrics

What \`GET /metrics\` on \`ops.listen\` shows, in Prometheus' text format or, to whoever asks for it (\`Accept: application/openmetrics-text\`), in OpenMetrics 1.0, the same series. For programs the same is in \`schemas/metrics.yaml\`. This page is made from the code
(\`npm run generate\`).

- Units are seconds, bytes and counts, never milliseconds. What ends in \`_timestamp_seconds\` is a point in time: \`time() - x\` is its age.
- No label holds a URL, a user, an event's name or anything else that a sender or a customer chose.
- A label with a closed set has these values and no others. The others are as many as the configuration and the cluster have:

${Object.entries(openLabels)
  .map(([name, { values }]) => `  - \`${name}\`: ${values}`)
  .join('\n')}

## How many series
A process should show no more than ${number(seriesBudget.inProcess)} series, which take it some five milliseconds and half a megabyte at each scrape. So those with ids from the configuration are bounded.
From ${number(seriesBudget.detailed)} of them on a new one keeps its destination, and its webhook becomes \`${foldedInto}\`; from ${number(seriesBudget.folding)} on the destination or source becomes \`${foldedInto}\` too.
Sums stay right. What was shown once stays shown until the process ends. \`hookline_metrics_series_folded_total\` says that it happens, and the alert
\`HooklineSeriesFolded\` what to do. \`hookline_breaker_open\` has no \`${foldedInto}\`: there, what has no room is not shown.

## What \`use\` says
\`alert\`: a rule in \`deploy/helm/hookline/files/rules/\` needs it. \`dashboard\`: a panel in \`deploy/tools/dashboards/\` shows it, no rule. \`debug\`: neither; it helps to find a cause.
`

/** `docs/reference/metrics.md` */
export function referenceText(): string {
  return [head, ...subjects.map(({ title, metrics }) => `## ${title}\n\n${metrics.map(sectionOf).join('\n')}`)].join(
    '\n',
  )
}

function sectionOf({ name, kind, unit, use, help, labels, buckets, exemplar }: AnyMetric): string {
  const lines = [`### \`${name}\``, `${help.replace(/\.$/, '')}. ${sentence(kind)}, ${unit}; use: ${use}.`]
  for (const [label, values] of Object.entries(labels))
    lines.push(`- \`${label}\`: ${'folds' in values ? values.values : values.map(value => `\`${value}\``).join(', ')}`)
  if (buckets.length > 0) lines.push(`- buckets up to ${buckets.map(bound => `\`${bound}\``).join(', ')}`)
  if (exemplar) lines.push('- exemplars in OpenMetrics: `trace_id`, where traces are kept')
  return `${lines.join('\n')}\n`
}

const sentence = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
