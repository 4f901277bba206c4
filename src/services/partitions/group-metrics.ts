import type { ConsumerGroupLabel } from '../../core/metrics/kafka-metrics.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { LogConsumer } from '../../core/ports.ts'
import type { Partitions } from './partitions.ts'

/** One member of a consumer group, with its assigned partitions. */
export interface GroupMember {
  readonly partitions: Partitions
  readonly consumer: Pick<LogConsumer, 'timeSinceContact'>
}

/** Updates the metrics of a consumer group with the counts since the last call. */
export function setGroupMetrics(
  metrics: Metrics,
  group: ConsumerGroupLabel,
  { partitions, consumer }: GroupMember,
): void {
  const { consumed, done, handedBack, joins } = partitions.takeCounts()
  metrics.recordsConsumed.inc({ group }, consumed)
  metrics.recordsFinished.inc({ group, end: 'done' }, done)
  metrics.recordsFinished.inc({ group, end: 'handed_back' }, handedBack)
  metrics.groupJoins.inc({ group }, joins)
  metrics.assignedPartitions.set({ group }, [...partitions.processors()].length)
  metrics.consumerSilence.set({ group }, consumer.timeSinceContact() / 1000)
}
