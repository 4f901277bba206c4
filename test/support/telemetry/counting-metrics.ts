import { type Metrics, metricSpecs } from '../../../src/core/metrics/metrics.ts'

/**
 * Returns metrics that store the value of each series in `counts`, for example of
 * `deliveries{crm,delivered}`. For a histogram, they count the observations, in total and per trace
 * id.
 */
export function countingMetrics(counts: Map<string, number>): Metrics {
  const instrument = (name: string) => {
    const seriesOf = (labels: Record<string, string>): string => `${name}{${Object.values(labels).join(',')}}`
    const add = (key: string, by: number): void => void counts.set(key, (counts.get(key) ?? 0) + by)
    return {
      inc: (labels: Record<string, string>, by = 1) => add(seriesOf(labels), by),
      withLabels: (labels: Record<string, string>) => ({ inc: (by = 1) => add(seriesOf(labels), by) }),
      observe: (labels: Record<string, string>, _value: number, traceId?: string) => {
        add(seriesOf(labels), 1)
        if (traceId !== undefined) add(`${name}{} # ${traceId}`, 1)
      },
      set: (labels: Record<string, string>, value: number) => counts.set(seriesOf(labels), value),
      reset: () => {
        for (const key of counts.keys()) if (key.startsWith(`${name}{`)) counts.delete(key)
      },
    }
  }
  return Object.fromEntries(Object.keys(metricSpecs).map(name => [name, instrument(name)])) as unknown as Metrics
}
