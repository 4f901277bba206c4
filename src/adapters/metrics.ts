import * as prom from 'prom-client'
import { type Metrics, metricSpecs } from '../core/metrics.ts'

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
  return {
    metrics: Object.fromEntries(
      Object.entries(metricSpecs).map(([key, spec]) => [key, createInstrument(spec, registry)]),
    ) as unknown as Metrics,
    contentType: registry.contentType,
    text: () => {
      for (const refresh of refreshers) refresh()
      return registry.metrics()
    },
    onCollect: refresh => {
      refreshers.push(refresh)
    },
  }
}

function createInstrument(spec: (typeof metricSpecs)[keyof typeof metricSpecs], registry: prom.Registry): prom.Metric {
  const options = { name: spec.name, help: spec.help, labelNames: [...spec.labels] as string[], registers: [registry] }
  switch (spec.kind) {
    case 'counter':
      return new prom.Counter(options)
    case 'gauge':
      return new prom.Gauge(options)
    case 'histogram':
      return new prom.Histogram({ ...options, buckets: [...spec.buckets] })
  }
}
