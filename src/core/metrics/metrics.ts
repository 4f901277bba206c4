import { audienceMetrics } from './audience-metrics.ts'
import { collectorMetrics } from './collector-metrics.ts'
import { processMetrics } from './configuration-and-process-metrics.ts'
import { deliveryMetrics } from './delivery-metrics.ts'
import { jobMetrics } from './job-metrics.ts'
import { kafkaMetrics } from './kafka-metrics.ts'
import type { LabelSet, LabelsOf, MetricSpec } from './metric-spec-builders.ts'

/**
 * All metrics that Hookline measures itself. `schemas/metrics.yaml` and its reference page are
 * generated from these declarations.
 */
export const metricSpecs = {
  ...audienceMetrics,
  ...deliveryMetrics,
  ...kafkaMetrics,
  ...collectorMetrics,
  ...jobMetrics,
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
  /**
   * Returns the counter of these labels. From this call on, `/metrics` shows the counter, even at
   * 0. Keep the returned object to avoid repeated look-ups.
   */
  withLabels(labels: LabelsOf<Labels>): Count
}

export interface Count {
  inc(by?: number): void
}

export interface Gauge<Labels extends LabelSet> {
  set(labels: LabelsOf<Labels>, value: number): void
  /**
   * Removes the values of all label sets. Without this call, a label set that no longer exists
   * keeps its value.
   */
  reset(): void
}

export interface Histogram<Labels extends LabelSet> {
  /** @param value in the metric's unit */
  observe(labels: LabelsOf<Labels>, value: number): void
}

export interface TracedHistogram<Labels extends LabelSet> {
  /**
   * @param value in the metric's unit
   * @param traceId id of the sampled trace that the observation belongs to
   */
  observe(labels: LabelsOf<Labels>, value: number, traceId?: string): void
}

/** The instruments: one for each metric in `metricSpecs`. */
export type Metrics = { readonly [Key in keyof MetricSpecs]: Instrument<MetricSpecs[Key]> }
