import type { Metrics } from '../../core/metrics/metrics.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { PartitionProcessor } from './partition-processor.ts'

/*
 * Several services of a process set the gauges of this file, each for its own topics. Before they
 * do so, `refreshServices` removes all series of these gauges.
 */

/** Number of records from the first unfinished one to the end of the partition. */
export const lagOf = ({ highWatermark, tracker }: PartitionProcessor): number =>
  Math.max(0, highWatermark - tracker.committable)

interface Progress {
  /** A number that grows whenever the work on the first unfinished record advances. */
  readonly position: number
  /** Whether the partition has no record that is due. */
  readonly isAtRest: boolean
}

/**
 * Returns a function that sets `partitionProgress`: when each partition last advanced (changed its
 * `position`) or had nothing to do.
 */
export function createSetProgress(
  metrics: Pick<Metrics, 'partitionProgress'>,
  progressOf: (processor: PartitionProcessor) => Progress,
): (processors: Iterable<PartitionProcessor>, now: EpochMs) => void {
  const seen = new WeakMap<PartitionProcessor, { readonly position: number; readonly at: EpochMs }>()

  function lastProgress(processor: PartitionProcessor, now: EpochMs): EpochMs {
    const { position, isAtRest } = progressOf(processor)
    const last = seen.get(processor)
    if (last !== undefined && last.position === position && !isAtRest && lagOf(processor) > 0) return last.at
    seen.set(processor, { position, at: now })
    return now
  }

  return (processors, now) => {
    for (const processor of processors) {
      const { topic, partition } = processor
      metrics.partitionProgress.set({ topic, partition: String(partition) }, lastProgress(processor, now) / 1000)
    }
  }
}

/**
 * Sets the metric `oldestRecord`, and returns its values by topic, in ms. A topic without a record
 * in progress has the value `now`.
 */
export function setOldestRecord(
  metrics: Pick<Metrics, 'oldestRecord'>,
  processors: Iterable<PartitionProcessor>,
  open: Iterable<Pick<LogRecord, 'topic' | 'timestamp'>>,
  now: EpochMs,
): ReadonlyMap<string, number> {
  const oldest = new Map<string, number>()
  for (const { topic } of processors) oldest.set(topic, now)
  for (const { topic, timestamp } of open) if (timestamp < (oldest.get(topic) ?? 0)) oldest.set(topic, timestamp)
  for (const [topic, timestamp] of oldest) metrics.oldestRecord.set({ topic }, timestamp / 1000)
  return oldest
}
