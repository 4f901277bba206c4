import type { AudiencePartition } from '../../core/audience/audience-partition.ts'
import type { ReadRecord } from '../../core/audience/membership-and-watermark-records.ts'
import { Semaphore } from '../../core/collections/semaphore.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger, PartitionReader } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { MembershipsReader } from './memberships-reader.ts'

/** Wait after Kafka or the schema registry could not be reached. */
const retryAfter = durationMs(1_000)
/** Maximum number of concurrent reads. More would not be faster: one core decodes all records. */
const maxReading = 2

interface Deps {
  readonly reader: Pick<PartitionReader, 'endOf'>
  readonly log: MembershipsReader
  /**
   * Creates the state of one partition. `inputEnd` is the end offset of the input partition.
   * Memberships with an input offset of `inputEnd` or more come from an earlier input topic that
   * was deleted.
   */
  readonly newPartition: (inputEnd: number) => AudiencePartition
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface RestoredPartition {
  readonly state: AudiencePartition
  /** The offset in the memberships topic after the last record that was read. */
  readonly next: number
  /**
   * Keys whose last record is stale, because a previous owner wrote late. The caller must write the
   * newer state again. Only `key` and `position` (of the newer state) are set.
   */
  readonly stale: readonly ReadRecord[]
}

/** Reads all memberships of a partition. Resolves with `undefined` when it is revoked. */
export type Restore = (processor: PartitionProcessor) => Promise<RestoredPartition | undefined>

export function createRestore({ reader, log, newPartition, clock, metrics, logger }: Deps): Restore {
  const reading = new Semaphore(maxReading)

  async function read(processor: PartitionProcessor): Promise<RestoredPartition> {
    const { partition } = processor
    const startedAt = clock.monotonic()
    const state = newPartition(await reader.endOf(processor))
    const { next, records } = await log.read(partition, 0, (record, offset) => {
      if (processor.revoked) throw new Error('the partition was revoked')
      if (state.records.restore(record) === 'unreadable') log.logUnreadable(partition, offset)
    })
    const stale = state.records.endRestore()
    const seconds = (clock.monotonic() - startedAt) / 1_000
    metrics.audienceRestoreSeconds.observe({}, seconds)
    logger.info(
      { topic: log.topic, partition, records, ...state.size(), stale: stale.length, seconds },
      'hookline has read the audience members of this partition, and now applies syncs; "bytes" is the memory that the members use; hookline also replaces outdated records in the topic (their number: see "stale")',
    )
    return { state, next, stale }
  }

  return async processor => {
    while (!processor.revoked) {
      await reading.acquire()
      try {
        return await read(processor)
      } catch (error) {
        if (processor.revoked) break
        const { partition } = processor
        const fields = { topic: log.topic, partition, error: (error as Error).message, retryInMs: retryAfter }
        logger.warn(
          fields,
          'hookline cannot read the audience members of this partition (see "error"), so syncs of the users of this partition wait; hookline tries again after the time in "retryInMs"; if this line repeats, check Kafka and the schema registry with: hookline doctor',
        )
      } finally {
        reading.release()
      }
      await sleep(clock, retryAfter)
    }
    return undefined
  }
}
