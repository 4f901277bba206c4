import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import { createPeriodicTask, type PeriodicTask } from '../periodic-task.ts'
import type { PartitionProcessor } from './partition-processor.ts'

/** Reads the end offsets of all partitions of a topic, in partition order. */
export type ReadEndOffsets = (topic: string) => Promise<readonly number[]>

/** Time between two checks, and so the maximum time until a new partition is checked. */
const checkEvery = durationMs(5_000)
/** Time, in ms, until the end offset of a partition without new batches is read again. */
const checkAgainAfterMs = 30_000

interface Deps {
  readonly clock: Clock
  readonly processors: () => Iterable<PartitionProcessor>
  readonly readEndOffsets: ReadEndOffsets
}

/**
 * Reads the end offsets of partitions that got no batch for 30 s. Otherwise, the metrics would show
 * too small a lag for paused partitions.
 */
export function createEndOffsetCheck({ clock, processors, readEndOffsets }: Deps): PeriodicTask {
  return createPeriodicTask({
    clock,
    firstRunAfter: checkEvery,
    async run() {
      const now = clock.monotonic()
      const old = [...processors()].filter(({ endCheckedAt }) => now - endCheckedAt >= checkAgainAfterMs)
      for (const [topic, of] of Map.groupBy(old, processor => processor.topic)) {
        const ends = await readEndOffsets(topic).catch(() => [])
        for (const processor of of) processor.endChecked(ends[processor.partition], now)
      }
      return checkEvery
    },
  })
}
