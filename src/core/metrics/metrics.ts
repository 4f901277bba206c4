import { audienceMetrics } from './audience-metrics.ts'
import { collectorMetrics } from './collector-metrics.ts'
import { deliveryMetrics } from './delivery-metrics.ts'
import { logMetrics } from './kafka-metrics.ts'
import { processMetrics } from './process-metrics.ts'
import type { LabelSet, LabelsOf, MetricSpec } from './spec.ts'

/**
 * Every metric, declared once: the adapter makes the instruments from these tables; the contract (`schemas/metrics.yaml`) and its reference
 * page are made from them, and rules and dashboards are checked against it.
 */
export const metricSpecs = {
  ...audienceMetrics,
  ...deliveryMetrics,
  ...logMetrics,
  ...collectorMetrics,
  ...processMetrics,
} as const

type MetricSpecs = typeof metricSpecs
type Instrument<Spec> =
  Spec extends MetricSpec<infer Kind, infer Labels>
    ? Spec extends { readonly exemplar: true }
      ? TracedHistogram<Labels>
      : { counter: Counter<Labels>; gauge: Gauge<Labels>; histogram: Histogram<Labels> }[Kind]
    : never

export interface Counter<Labels extends LabelSet> {
  inc(labels: LabelsOf<Labels>, by?: number): void
  /** The count of these labels, shown from now on. Who counts often keeps it: it has not to be found each time. */
  of(labels: LabelsOf<Labels>): Count
}

export interface Count {
  inc(by?: number): void
}

export interface Gauge<Labels extends LabelSet> {
  set(labels: LabelsOf<Labels>, value: number): void
  /** Forgets what was set for any labels: before everything that still holds is set again. */
  reset(): void
}

export interface Histogram<Labels extends LabelSet> {
  /** In the metric's unit. */
  observe(labels: LabelsOf<Labels>, value: number): void
}

export interface TracedHistogram<Labels extends LabelSet> {
  /** In the metric's unit. `traceId`: of the trace that it is part of, if that one is kept. */
  observe(labels: LabelsOf<Labels>, value: number, traceId?: string): void
}

/** The instruments, one for each entry of the tables. */
export type Metrics = { readonly [Key in keyof MetricSpecs]: Instrument<MetricSpecs[Key]> }
