import { audienceMetrics } from '../../../src/core/metrics/audiences.ts'
import { collectorMetrics } from '../../../src/core/metrics/collector.ts'
import { deliveryMetrics } from '../../../src/core/metrics/delivery.ts'
import { logMetrics } from '../../../src/core/metrics/log.ts'
import { processMetrics } from '../../../src/core/metrics/process.ts'
import { runtimeMetrics } from '../../../src/core/metrics/runtime.ts'
import type { LabelSet, MetricSpec } from '../../../src/core/metrics/spec.ts'

export type AnyMetric = MetricSpec<'counter' | 'gauge' | 'histogram', LabelSet>

/** Everything that `/metrics` shows, in the order of the reference. */
export const subjects: readonly { readonly title: string; readonly metrics: readonly AnyMetric[] }[] = [
  { title: 'Deliveries and calls', metrics: Object.values(deliveryMetrics) },
  { title: 'Records, partitions and topics', metrics: Object.values(logMetrics) },
  { title: 'The collector', metrics: Object.values(collectorMetrics) },
  { title: 'Audiences', metrics: Object.values(audienceMetrics) },
  { title: 'The process and its configuration', metrics: Object.values(processMetrics) },
  { title: 'Node', metrics: runtimeMetrics },
]
