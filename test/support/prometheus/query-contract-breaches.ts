import { contractSeries } from './metrics-contract.ts'
import { askedIn, type Matcher } from './promql-parser.ts'
import { recordings } from './rules.ts'

/** Prometheus and the cluster add these labels to all series. */
const added = ['job', 'namespace', 'instance', 'pod']
const synthetic: Record<string, readonly string[]> = { up: [], ALERTS: ['alertname', 'alertstate', 'severity'] }

/**
 * The labels of a series, with their values if the list is fixed. Undefined for an unknown series.
 */
function labelsOf(series: string): ReadonlyMap<string, readonly string[] | undefined> | undefined {
  const metric = contractSeries.get(series)
  const own = (names: readonly string[]) => new Map(names.map(name => [name, undefined] as const))
  if (metric !== undefined)
    return new Map<string, readonly string[] | undefined>([
      ...own(added),
      ...own(series.endsWith('_bucket') ? ['le'] : []),
      ...Object.entries(metric.labels ?? {}).map(
        ([name, values]) => [name, typeof values === 'string' ? undefined : values] as const,
      ),
    ])
  const rule = recordings.find(({ record }) => record === series)
  if (rule !== undefined) return own([...added, ...askedIn(rule.expr).labels])
  const made = synthetic[series]
  return made && own([...added, ...made])
}

/** The parts of an expression that `schemas/metrics.yaml` does not have. */
export function breachesIn(expr: string): readonly string[] {
  const { metrics, labels } = askedIn(expr)
  const known = metrics.map(({ name }) => labelsOf(name))
  const missing = metrics.filter((_, index) => known[index] === undefined).map(({ name }) => `no metric ${name}`)
  const strange = labels.filter(label => !known.some(each => each?.has(label))).map(label => `no metric has ${label}`)
  const wrong = metrics.flatMap(({ name, matchers }, index) =>
    matchers.flatMap(matcher => {
      const of = known[index]
      if (of === undefined) return []
      if (!of.has(matcher.label)) return [`${name} has no ${matcher.label}`]
      return strangeValues(matcher, of.get(matcher.label)).map(value => `${name} has no ${matcher.label} ${value}`)
    }),
  )
  return [...missing, ...strange, ...wrong]
}

function strangeValues({ operator, value }: Matcher, closed: readonly string[] | undefined): readonly string[] {
  if (closed === undefined || value.startsWith('$')) return []
  const asked = operator === '=' || operator === '!=' ? [value] : value.split('|')
  return asked.filter(each => !closed.some(one => new RegExp(`^(?:${each})$`).test(one)))
}

/** The metrics that an expression uses, directly or through recording rules. */
export function metricsIn(expr: string): readonly string[] {
  return askedIn(expr).metrics.flatMap(({ name }) => {
    const rule = recordings.find(({ record }) => record === name)
    return rule === undefined ? [contractSeries.get(name)?.name ?? name] : metricsIn(rule.expr)
  })
}
