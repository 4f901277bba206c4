import { type Metrics, metricSpecs } from '../../src/core/metrics.ts'

/** Counts what the metrics were told: `deliveries{crm,delivered}` → 3, and observations in a kept trace besides: `webhookCallSeconds{} # <trace id>` → 1. */
export function countingMetrics(counts: Map<string, number>): Metrics {
  const instrument = (name: string) => {
    const add = (labels: Record<string, string>, by: number): void => {
      const key = `${name}{${Object.values(labels).join(',')}}`
      counts.set(key, (counts.get(key) ?? 0) + by)
    }
    return {
      inc: (labels: Record<string, string>, by = 1) => add(labels, by),
      observe: (labels: Record<string, string>, _value: number, traceId?: string) => {
        add(labels, 1)
        if (traceId !== undefined) counts.set(`${name}{} # ${traceId}`, (counts.get(`${name}{} # ${traceId}`) ?? 0) + 1)
      },
      set: (labels: Record<string, string>, value: number) =>
        counts.set(`${name}{${Object.values(labels).join(',')}}`, value),
      reset: () => {
        for (const key of counts.keys()) if (key.startsWith(`${name}{`)) counts.delete(key)
      },
    }
  }
  return Object.fromEntries(Object.keys(metricSpecs).map(name => [name, instrument(name)])) as unknown as Metrics
}
