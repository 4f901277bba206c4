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
import { Exemplars, type Format, type Shown, textFormat } from './exposition.ts'
import { Buckets, bounded, foldingLabels, SeriesBudget } from './series.ts'
import { Tally } from './tally.ts'

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

/** The instruments of the tables in `core/metrics/metrics.ts`, in a registry of their own. `wall`: the time that others go by, in milliseconds since 1970. */
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

interface ProcessContext {
  readonly registry: prom.Registry
  readonly budget: SeriesBudget
  /** Those made so far that show themselves, for the exposition. */
  readonly own: Shown[]
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

export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/**
 * What the text format says, as OpenMetrics 1.0: the same series under the same names. Made from the text, since prom-client's registry has one
 * format, and renames its counters for good when it writes the other.
 *
 * `own`: these write themselves, exemplars included. Read again, thousands of series would hold the event loop for three times as long.
 */
export function openMetricsOf(text: string, own: readonly Shown[] = []): string {
  const body = text
    .replace(heads, (_, name: string, help: string, type: string) => headOf(name, help, type))
    .replace(/\n{2,}/g, '\n')
  return [body, ...own.map(shown => shown.text(openMetricsFormat)), '# EOF\n'].join('')
}

const heads = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm

/** Here a counter is called what its series is called, without `_total`; and quotation marks are escaped in what is said of it, too. */
function headOf(name: string, help: string, type: string): string {
  const family = type === 'counter' ? name.replace(/_total$/, '') : name
  return `# HELP ${family} ${help.replaceAll('"', '\\"')}\n# TYPE ${family} ${type}`
}

const openMetricsFormat: Format = { head: headOf, hasExemplars: true }
