import * as prom from 'prom-client'
import type { LabelSet, MetricSpec } from '../core/metrics/spec.ts'
import {
  type Counter,
  type Gauge,
  type Histogram,
  type Metrics,
  metricSpecs,
  type TracedHistogram,
} from '../core/metrics.ts'
import { Buckets } from './metrics/buckets.ts'
import { Exemplars } from './metrics/exemplars.ts'
import { type Shown, textFormat } from './metrics/format.ts'
import { openMetricsOf, openMetricsType } from './metrics/open-metrics.ts'
import { bounded, foldingLabels, SeriesBudget } from './metrics/series.ts'
import { Tally } from './metrics/tally.ts'

/** Everything that is measured, runtime figures of Node included, in one format. */
export interface Exposition {
  readonly contentType: string
  text(): Promise<string>
}

/** Itself in Prometheus' text format. */
export interface MetricsRegistry extends Exposition {
  readonly metrics: Metrics
  /** The same in OpenMetrics 1.0, which can tell of traces. */
  readonly openMetrics: Exposition
  /** Called before each exposition, to set the gauges. */
  onCollect(refresh: () => void): void
}

/** The usual 10 ms wake a process that has nothing to do a hundred times a second, which was half of what it took. */
const eventLoopSampleMs = 50

/** The instruments of the tables in `core/metrics.ts`, in a registry of their own. `wall`: the time that others go by, in milliseconds since 1970. */
export function createMetrics(wall: () => number = Date.now): MetricsRegistry {
  const registry = new prom.Registry()
  prom.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs })
  const refreshers: (() => void)[] = []
  const own: Shown[] = []
  const budget = new SeriesBudget(() => metrics.seriesFolded.inc({}))
  const create = ([key, spec]: [string, MetricSpec<'counter' | 'gauge' | 'histogram', LabelSet>]) =>
    [key, createInstrument(spec, { registry, budget, own, wall })] as const
  const metrics = Object.fromEntries(Object.entries(metricSpecs).map(create)) as unknown as Metrics
  /** All that does not show itself. */
  const rest = (): Promise<string> => {
    for (const refresh of refreshers) refresh()
    metrics.series.set({}, budget.used)
    return registry.metrics()
  }
  return {
    metrics,
    contentType: registry.contentType,
    text: async () => [await rest(), ...own.map(shown => shown.text(textFormat))].join('\n'),
    openMetrics: {
      contentType: openMetricsType,
      text: async () => openMetricsOf(await rest(), own),
    },
    onCollect: refresh => {
      refreshers.push(refresh)
    },
  }
}

interface Surroundings {
  readonly registry: prom.Registry
  readonly budget: SeriesBudget
  /** Those made so far that show themselves, for the exposition. */
  readonly own: Shown[]
  readonly wall: () => number
}

function createInstrument(
  spec: MetricSpec<'counter' | 'gauge' | 'histogram', LabelSet>,
  { registry, budget, own, wall }: Surroundings,
): Counter<LabelSet> | Gauge<LabelSet> | Histogram<LabelSet> | TracedHistogram<LabelSet> {
  const { kind, name, help, labels } = spec
  const labelNames = Object.keys(labels)
  const folding = foldingLabels(labels)
  switch (kind) {
    case 'counter': {
      const tally = new Tally({ name, help, names: labelNames, folding, budget })
      // There from the start, as 0: a rule sees no increase in what appears as more than that.
      for (const known of closedLabels(labels)) tally.inc(known, 0)
      own.push(tally)
      return tally
    }
    case 'gauge': {
      const gauge = new prom.Gauge({ name, help, labelNames, registers: [registry] })
      return folding.length === 0 ? gauge : bounded(gauge, labelNames, budget)
    }
    case 'histogram': {
      // Ten series and more each: none has labels.
      if (labelNames.length > 0) throw new Error(`${name}: a histogram cannot have labels here`)
      const kept = spec.exemplar && new Exemplars(wall)
      const buckets = new Buckets({ name, help, bounds: spec.buckets, exemplars: kept })
      own.push(buckets)
      return buckets
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
