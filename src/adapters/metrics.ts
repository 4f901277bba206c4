import * as prom from 'prom-client'
import type { LabelSet, MetricSpec } from '../core/metrics/spec.ts'
import { type Counter, type Gauge, type Histogram, type Metrics, metricSpecs } from '../core/metrics.ts'
import { bounded, foldingLabels, SeriesBudget } from './metrics/series.ts'
import { Tally } from './metrics/tally.ts'

export interface MetricsRegistry {
  readonly metrics: Metrics
  readonly contentType: string
  /** The text exposition of everything, runtime figures of Node included. */
  text(): Promise<string>
  /** Called before each exposition, to set the gauges. */
  onCollect(refresh: () => void): void
}

/** The usual 10 ms wake a process that has nothing to do a hundred times a second, which was half of what it took. */
const eventLoopSampleMs = 50

/** The instruments of the tables in `core/metrics.ts`, in a registry of their own. */
export function createMetrics(): MetricsRegistry {
  const registry = new prom.Registry()
  prom.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs })
  const refreshers: (() => void)[] = []
  const tallies: Tally[] = []
  const budget = new SeriesBudget(() => metrics.seriesFolded.inc({}))
  const create = ([key, spec]: [string, MetricSpec<'counter' | 'gauge' | 'histogram', LabelSet>]) =>
    [key, createInstrument(spec, { registry, budget, tallies })] as const
  const metrics = Object.fromEntries(Object.entries(metricSpecs).map(create)) as unknown as Metrics
  return {
    metrics,
    contentType: registry.contentType,
    text: async () => {
      for (const refresh of refreshers) refresh()
      metrics.series.set({}, budget.used)
      const rest = await registry.metrics()
      return [rest, ...tallies.map(tally => tally.text())].join('\n')
    },
    onCollect: refresh => {
      refreshers.push(refresh)
    },
  }
}

interface Surroundings {
  readonly registry: prom.Registry
  readonly budget: SeriesBudget
  /** Those made so far, for the exposition. */
  readonly tallies: Tally[]
}

function createInstrument(
  spec: MetricSpec<'counter' | 'gauge' | 'histogram', LabelSet>,
  { registry, budget, tallies }: Surroundings,
): Counter<LabelSet> | Gauge<LabelSet> | Histogram<LabelSet> {
  const { kind, name, help, labels } = spec
  const labelNames = Object.keys(labels)
  const folding = foldingLabels(labels)
  const options = { name, help, labelNames, registers: [registry] }
  switch (kind) {
    case 'counter': {
      const tally = new Tally({ name, help, names: labelNames, folding, budget })
      // There from the start, as 0: a rule sees no increase in what appears as more than that.
      for (const known of closedLabels(labels)) tally.inc(known, 0)
      tallies.push(tally)
      return tally
    }
    case 'gauge': {
      const gauge = new prom.Gauge(options)
      return folding.length === 0 ? gauge : bounded(gauge, labelNames, budget)
    }
    case 'histogram': {
      const histogram = new prom.Histogram({ ...options, buckets: [...spec.buckets] })
      if (labelNames.length > 0) return histogram
      const only = histogram.labels()
      return { observe: (_labels, value) => only.observe(value) }
    }
  }
}

/** Beyond it most of them never happen. */
const mostShownAtZero = 20

/** All labels that a metric can have, when each of its sets is closed; none when they are not all known, or very many. */
function closedLabels(labels: LabelSet): readonly Readonly<Record<string, string>>[] {
  let known: Record<string, string>[] = [{}]
  for (const [name, values] of Object.entries(labels)) {
    if ('folds' in values) return []
    known = known.flatMap(each => values.map(value => ({ ...each, [name]: value })))
  }
  return known.length > mostShownAtZero ? [] : known
}
