import { seriesBudget } from '../../../src/core/metrics/metric-spec-builders.ts'
import { yamlText } from '../json-and-yaml-text.ts'
import { type AnyMetric, metricGroups } from './metric-groups.ts'

const head = `# All metrics of Hookline with their names, meanings, labels and label values.
# Names, labels and meanings are stable: CHANGELOG.md announces every change.
# Generated from src/core/metrics/ by \`npm run generate\`. Tests check the rules and dashboards against this file.
#
# use: alert (an alerting rule uses it), dashboard (a panel shows it), debug (only for investigations).
# exemplar: label with the id of a sampled trace, on the buckets in OpenMetrics.
# A label has either a complete list of values, or a description of values that depend on the configuration or cluster.
`

/** Returns the text of `schemas/metrics.yaml`. */
export function contractText(): string {
  const contract = {
    seriesBudget: {
      inProcess: seriesBudget.target,
      folding: seriesBudget.maxOverflowing,
      detailed: seriesBudget.maxBeforeWebhookOverflows,
    },
    metrics: metricGroups.flatMap(({ metrics }) => metrics.map(entryOf)),
  }
  return `${head}${yamlText(contract)}`
}

function entryOf({ name, kind, unit, use, help, labels, buckets, exemplar }: AnyMetric): object {
  const shown = Object.entries(labels).map(([label, values]) => [
    label,
    'canOverflow' in values ? values.values : [...values],
  ])
  return {
    name,
    type: kind,
    unit,
    use,
    help,
    ...(shown.length > 0 && { labels: Object.fromEntries(shown) }),
    ...(buckets.length > 0 && { buckets: [...buckets] }),
    ...(exemplar && { exemplar: 'trace_id' }),
  }
}
