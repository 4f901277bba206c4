import * as prom from 'prom-client'
import type { LabelSet } from '../core/metrics/spec.ts'
import { type Counter, type Gauge, type Histogram, type Metrics, metricSpecs } from '../core/metrics.ts'

export interface MetricsRegistry {
  readonly metrics: Metrics
  readonly contentType: string
  /** The text exposition of everything, runtime figures of Node included. */
  text(): Promise<string>
  /** Called before each exposition, to set the gauges. */
  onCollect(refresh: () => void): void
}

/** The instruments of the table in `core/metrics.ts`, in a registry of their own. */
export function createMetrics(): MetricsRegistry {
  const registry = new prom.Registry()
  prom.collectDefaultMetrics({ register: registry })
  const refreshers: (() => void)[] = []
  const onCollect: MetricsRegistry['onCollect'] = refresh => {
    refreshers.push(refresh)
  }
  return {
    metrics: Object.fromEntries(
      Object.entries(metricSpecs).map(([key, spec]) => [key, createInstrument(spec, registry, onCollect)]),
    ) as unknown as Metrics,
    contentType: registry.contentType,
    text: () => {
      for (const refresh of refreshers) refresh()
      return registry.metrics()
    },
    onCollect,
  }
}

type Labels = Readonly<Record<string, string>>

function createInstrument(
  spec: (typeof metricSpecs)[keyof typeof metricSpecs],
  registry: prom.Registry,
  onCollect: MetricsRegistry['onCollect'],
): Counter<LabelSet> | Gauge<LabelSet> | Histogram<LabelSet> {
  const labelNames = Object.keys(spec.labels)
  const options = { name: spec.name, help: spec.help, labelNames, registers: [registry] }
  switch (spec.kind) {
    case 'counter': {
      const tally = new Tally(labelNames, new prom.Counter(options))
      onCollect(() => tally.flush())
      return tally
    }
    case 'gauge':
      return new prom.Gauge(options)
    case 'histogram': {
      const histogram = new prom.Histogram({ ...options, buckets: [...spec.buckets] })
      if (labelNames.length > 0) return histogram
      const only = histogram.labels()
      return { observe: (_labels, value) => only.observe(value) }
    }
  }
}

interface Branch {
  count: Count | undefined
  readonly branches: Map<string, Branch>
}

interface Count {
  readonly labels: Labels
  pending: number
}

/**
 * Counts up between two expositions. prom-client makes one key of all labels at every call, which on the way of every delivery
 * costs more than what is counted there.
 */
class Tally implements Counter<LabelSet> {
  readonly #names: readonly string[]
  readonly #counter: prom.Counter
  /** By the value of the first label, of those by that of the second one, … */
  readonly #root: Branch = { count: undefined, branches: new Map() }
  readonly #counts: Count[] = []

  constructor(names: readonly string[], counter: prom.Counter) {
    this.#names = names
    this.#counter = counter
    // Without labels it is shown from the start, as 0.
    if (names.length === 0) this.inc({}, 0)
  }

  inc(labels: Labels, by = 1): void {
    this.#countOf(labels).pending += by
  }

  flush(): void {
    for (const count of this.#counts) {
      this.#counter.inc(count.labels, count.pending)
      count.pending = 0
    }
  }
  #countOf(labels: Labels): Count {
    let branch = this.#root
    for (const name of this.#names) {
      const value = labels[name] ?? ''
      let next = branch.branches.get(value)
      if (next === undefined) {
        next = { count: undefined, branches: new Map() }
        branch.branches.set(value, next)
      }
      branch = next
    }
    if (branch.count === undefined) {
      branch.count = { labels: { ...labels }, pending: 0 }
      this.#counts.push(branch.count)
    }
    return branch.count
  }
}
