import { audienceMetrics } from '../../../src/core/metrics/audience-metrics.ts'
import { collectorMetrics } from '../../../src/core/metrics/collector-metrics.ts'
import { processMetrics } from '../../../src/core/metrics/configuration-and-process-metrics.ts'
import { deliveryMetrics } from '../../../src/core/metrics/delivery-metrics.ts'
import { jobMetrics } from '../../../src/core/metrics/job-metrics.ts'
import { kafkaMetrics } from '../../../src/core/metrics/kafka-metrics.ts'
import type { LabelSet, MetricSpec } from '../../../src/core/metrics/metric-spec-builders.ts'
import { runtimeMetrics } from '../../../src/core/metrics/runtime-metrics.ts'

export type AnyMetric = MetricSpec<'counter' | 'gauge' | 'histogram', LabelSet>

/** All metrics of `/metrics`, in the order of the reference page. */
export const metricGroups: readonly { readonly title: string; readonly metrics: readonly AnyMetric[] }[] = [
  { title: 'Deliveries and requests', metrics: Object.values(deliveryMetrics) },
  { title: 'Records, partitions and topics', metrics: Object.values(kafkaMetrics) },
  { title: 'The collector', metrics: Object.values(collectorMetrics) },
  { title: 'Audiences', metrics: Object.values(audienceMetrics) },
  { title: 'Replays and resends', metrics: Object.values(jobMetrics) },
  { title: 'The process and its configuration', metrics: Object.values(processMetrics) },
  { title: 'Node', metrics: runtimeMetrics },
]
