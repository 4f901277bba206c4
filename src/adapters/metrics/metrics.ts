import * as prom from 'prom-client'
import {
  type Counter,
  type Gauge,
  type Histogram,
  type Metrics,
  metricSpecs,
  type TracedHistogram,
} from '../../core/metrics/metrics.ts'
import type { LabelSet, MetricSpec } from '../../core/metrics/spec.ts'
import { Exemplars, type ExposedInstrument, type ExpositionFormat, textFormat } from './exposition.ts'
import { LabeledCounter } from './labeled-counter.ts'
import { foldingLabels, limitSeries, PlainHistogram, SeriesBudget } from './series.ts'

/** All metrics, including Node's runtime metrics, in one format. */
export interface Exposition {
  readonly contentType: string
  text(): Promise<string>
}

/** The metrics of a process. The exposition is in Prometheus' text format. */
export interface MetricsRegistry extends Exposition {
  readonly metrics: Metrics
  /** The same metrics in OpenMetrics 1.0, which supports exemplars. */
  readonly openMetrics: Exposition
  /** Registers a function that sets gauges. It is called before each exposition. */
  onCollect(refresh: () => void): void
}

/**
 * Sampling interval for the event loop delay. The default of 10 ms wakes an idle process a hundred
 * times a second, which was half of its CPU use.
 */
const eventLoopSampleMs = 50

/**
 * Creates the instruments that `core/metrics/metrics.ts` defines, in a separate registry. `wall`
 * returns milliseconds since 1970, for exemplars.
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
  /** The exposition of the metrics that prom-client keeps. */
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

interface ProcessContext {
  readonly registry: prom.Registry
  readonly budget: SeriesBudget
  /** The instruments created so far that write their own lines. */
  readonly own: ExposedInstrument[]
  readonly wall: () => number
}

function createInstrument(
  spec: MetricSpec<'counter' | 'gauge' | 'histogram', LabelSet>,
  { registry, budget, own, wall }: ProcessContext,
): Counter<LabelSet> | Gauge<LabelSet> | Histogram<LabelSet> | TracedHistogram<LabelSet> {
  const { kind, name, help, labels } = spec
  const labelNames = Object.keys(labels)
  const folding = foldingLabels(labels)
  switch (kind) {
    case 'counter': {
      const tally = new LabeledCounter({ name, help, names: labelNames, folding, budget })
      // The series exist from the start at 0. Prometheus sees no increase when a series first
      // appears with a value above 0.
      for (const known of closedLabels(labels)) tally.inc(known, 0)
      own.push(tally)
      return tally
    }
    case 'gauge': {
      const gauge = new prom.Gauge({ name, help, labelNames, registers: [registry] })
      return folding.length === 0 ? gauge : limitSeries(gauge, labelNames, budget)
    }
    case 'histogram': {
      // Each label set would need ten or more series, so histograms have no labels.
      if (labelNames.length > 0) throw new Error(`${name}: a histogram must not have labels`)
      const kept = spec.exemplar && new Exemplars(wall)
      const buckets = new PlainHistogram({ name, help, bounds: spec.buckets, exemplars: kept })
      own.push(buckets)
      return buckets
    }
  }
}

/**
 * Maximum number of label sets that a counter starts at 0. With more, most would never be counted.
 */
const maxLabelSetsAtZero = 20

/**
 * All label sets that a metric can have. Empty when the values of a label are not fixed, or when
 * there are more than `maxLabelSetsAtZero` sets.
 */
function closedLabels(labels: LabelSet): readonly Readonly<Record<string, string>>[] {
  let known: Record<string, string>[] = [{}]
  for (const [name, values] of Object.entries(labels)) {
    if ('folds' in values) return []
    known = known.flatMap(each => values.map(value => ({ ...each, [name]: value })))
  }
  return known.length > maxLabelSetsAtZero ? [] : known
}

export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/**
 * Converts the text format to OpenMetrics 1.0, with the same series under the same names.
 * prom-client is not used for this, because its registry has one format, and an exposition in the
 * other format renames its counters permanently.
 *
 * The instruments in `own` write their lines themselves, with exemplars. Converting the text of
 * their thousands of series would block the event loop three times as long.
 */
export function openMetricsOf(text: string, own: readonly ExposedInstrument[] = []): string {
  const body = text
    .replace(heads, (_, name: string, help: string, type: string) => headOf(name, help, type))
    .replace(/\n{2,}/g, '\n')
  return [body, ...own.map(shown => shown.text(openMetricsFormat)), '# EOF\n'].join('')
}

const heads = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm

/**
 * The HELP and TYPE lines in OpenMetrics. In OpenMetrics a counter family has no `_total` suffix,
 * and quotation marks in the help text are escaped.
 */
function headOf(name: string, help: string, type: string): string {
  const family = type === 'counter' ? name.replace(/_total$/, '') : name
  return `# HELP ${family} ${help.replaceAll('"', '\\"')}\n# TYPE ${family} ${type}`
}

const openMetricsFormat: ExpositionFormat = { head: headOf, hasExemplars: true }
