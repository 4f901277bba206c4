import { seriesBudget } from '../../../src/core/metrics/spec.ts'
import { yamlText } from '../layout.ts'
import { type AnyMetric, subjects } from './subjects.ts'

const head = `# Every metric of Hookline: what it is called, what it means, which labels it has and which values these can take.
# Names, labels and meanings are promises: they change only with a note in CHANGELOG.md.
# Made from src/core/metrics/ by \`npm run generate\`; tests hold rules and dashboards to this file.
#
# use: alert (a rule needs it), dashboard (a panel shows it), debug (for whoever looks for a cause).
# exemplar: in OpenMetrics its buckets name a kept trace, by this label.
# A label with a list of values has no others; one with a text is as large as the configuration or the cluster makes it.
`

/** `schemas/metrics.yaml` */
export function contractText(): string {
  const contract = {
    seriesBudget: { ...seriesBudget },
    metrics: subjects.flatMap(({ metrics }) => metrics.map(entryOf)),
  }
  return `${head}${yamlText(contract)}`
}

function entryOf({ name, kind, unit, use, help, labels, buckets, exemplar }: AnyMetric): object {
  const shown = Object.entries(labels).map(([label, values]) => [
    label,
    'folds' in values ? values.values : [...values],
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
