import * as prom from 'prom-client'
import type { LabelSet, MetricSpec } from '../../core/metrics/metric-spec-builders.ts'
import {
  type Counter,
  type Gauge,
  type Histogram,
  type Metrics,
  metricSpecs,
  type TracedHistogram,
} from '../../core/metrics/metrics.ts'
import { Exemplars } from './exemplars.ts'
import { type ExposedInstrument, textFormat } from './exposition-format-interface.ts'
import { LabeledCounter } from './labeled-counter.ts'
import { PlainHistogram } from './plain-histogram.ts'
import { openMetricsOf, openMetricsType } from './prometheus-to-open-metrics.ts'
import { limitSeries, overflowLabelsOf, SeriesBudget } from './series-budget.ts'

/** All metrics, including Node's runtime metrics, in one format. */
export interface Exposition {
  readonly contentType: string
  text(): Promise<string>
}

/** The metrics of a process, in Prometheus' text format. */
export interface MetricsRegistry extends Exposition {
  readonly metrics: Metrics
  /** The same metrics in OpenMetrics 1.0, which supports exemplars. */
  readonly openMetrics: Exposition
  /** Registers a function that sets gauges before each exposition. */
  onCollect(refresh: () => void): void
}

/**
 * Sampling interval for the event loop delay. The default of 10 ms caused half of the CPU use of an
 * idle process.
 */
const eventLoopSampleMs = 50

/**
 * Creates the instruments that `core/metrics/metrics.ts` defines. `wall` returns milliseconds since
 * 1970, for exemplars.
 */
export function createMetrics(wall: () => number = Date.now): MetricsRegistry {
  const registry = new prom.Registry()
  prom.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs })
  const refreshers: (() => void)[] = []
  const own: ExposedInstrument[] = []
  const budget = new SeriesBudget(() => metrics.seriesFolded.inc({}))
  const create = ([key, spec]: [string, MetricSpec<'counter' | 'gauge' | 'histogram', LabelSet>]) =>
    [key, createInstrument(spec, { registry, budget, own, wall })] as const
  const metrics = Object.fromEntries(Object.entries(metricSpecs).map(create)) as unknown as Metrics
  /** Refreshes the gauges and returns the exposition of prom-client's metrics. */
  const promClientText = (): Promise<string> => {
    for (const refresh of refreshers) refresh()
    metrics.series.set({}, budget.used)
    return registry.metrics()
  }
  return {
    metrics,
    contentType: registry.contentType,
    text: async () => [await promClientText(), ...own.map(shown => shown.text(textFormat))].join('\n'),
    openMetrics: {
      contentType: openMetricsType,
      text: async () => openMetricsOf(await promClientText(), own),
    },
    onCollect: refresh => {
      refreshers.push(refresh)
    },
  }
}

interface InstrumentContext {
  readonly registry: prom.Registry
  readonly budget: SeriesBudget
  /** The instruments that write their own lines, without prom-client. */
  readonly own: ExposedInstrument[]
  readonly wall: () => number
}

function createInstrument(
  spec: MetricSpec<'counter' | 'gauge' | 'histogram', LabelSet>,
  { registry, budget, own, wall }: InstrumentContext,
): Counter<LabelSet> | Gauge<LabelSet> | Histogram<LabelSet> | TracedHistogram<LabelSet> {
  const { kind, name, help, labels } = spec
  const labelNames = Object.keys(labels)
  const overflowLabels = overflowLabelsOf(labels)
  switch (kind) {
    case 'counter': {
      const tally = new LabeledCounter({ name, help, names: labelNames, overflowLabels, budget })
      // Prometheus sees no increase when a series first appears with a value above 0. So if the
      // label sets are few and fixed, their series begin with the value 0.
      for (const known of closedLabels(labels)) tally.inc(known, 0)
      own.push(tally)
      return tally
    }
    case 'gauge': {
      const gauge = new prom.Gauge({ name, help, labelNames, registers: [registry] })
      return overflowLabels.length === 0 ? gauge : limitSeries(gauge, labelNames, budget)
    }
    case 'histogram': {
      // Each label set would need ten or more series.
      if (labelNames.length > 0) throw new Error(`${name}: a histogram must not have labels`)
      const kept = spec.exemplar && new Exemplars(wall)
      const buckets = new PlainHistogram({ name, help, bounds: spec.buckets, exemplars: kept })
      own.push(buckets)
      return buckets
    }
  }
}

/** The series of a counter begin with the value 0 if it has at most this number of label sets. */
const maxLabelSetsAtZero = 20

/**
 * All label sets that a metric can have. Empty when a label has no fixed values, or for more than
 * `maxLabelSetsAtZero` sets.
 */
function closedLabels(labels: LabelSet): readonly Readonly<Record<string, string>>[] {
  let known: Record<string, string>[] = [{}]
  for (const [name, values] of Object.entries(labels)) {
    if ('canOverflow' in values) return []
    known = known.flatMap(each => values.map(value => ({ ...each, [name]: value })))
  }
  return known.length > maxLabelSetsAtZero ? [] : known
}
