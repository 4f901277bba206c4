import type { AudiencePartition } from '../../core/audience/partition.ts'
import type { ReadRecord } from '../../core/audience/record.ts'
import { InFlight } from '../../core/flow/in-flight.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import { pause } from '../../core/pause.ts'
import type { Clock, Logger, PartitionReader } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { MembershipsLog } from './memberships-log.ts'

/** Between two tries while Kafka or the registry cannot be reached. */
const retryAfter = durationMs(1_000)
/** Partitions at once: what was fetched of each lies in memory, and one core has to read them all. */
const maxReading = 2

interface Deps {
  readonly reader: Pick<PartitionReader, 'endOf'>
  readonly log: MembershipsLog
  /** @param inputEnd the end of its input partition. */
  readonly newPartition: (inputEnd: number) => AudiencePartition
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface RestoredPartition {
  readonly state: AudiencePartition
  /** Offset behind the last record that was read. */
  readonly next: number
  /** Keys whose last record is stale, as tombstones: what holds has to be written again. */
  readonly stale: readonly ReadRecord[]
}

/** Reads the memberships of one input partition, all there are. Resolves with undefined when that is not ours any more. */
export type Restore = (processor: PartitionProcessor) => Promise<RestoredPartition | undefined>

export function createRestore({ reader, log, newPartition, clock, metrics, logger }: Deps): Restore {
  const reading = new InFlight(maxReading)

  async function read(processor: PartitionProcessor): Promise<RestoredPartition> {
    const { partition } = processor
    const startedAt = clock.monotonic()
    const state = newPartition(await reader.endOf(processor))
    const { next, records } = await log.read(partition, 0, (record, offset) => {
      if (processor.revoked) throw new Error('not ours any more')
      if (state.records.restore(record) === 'unreadable') log.tellUnreadable(partition, offset)
    })
    const stale = state.records.restored()
    const seconds = (clock.monotonic() - startedAt) / 1_000
    metrics.audienceRestoreSeconds.observe({}, seconds)
    logger.info({ partition, records, ...state.size(), stale: stale.length, seconds }, 'memberships restored')
    return { state, next, stale }
  }

  return async processor => {
    while (!processor.revoked) {
      await reading.begin()
      try {
        return await read(processor)
      } catch (error) {
        if (processor.revoked) break
        const { partition } = processor
        const fields = { topic: log.topic, partition, error: (error as Error).message, retryInMs: retryAfter }
        logger.warn(fields, 'memberships cannot be read; their inputs wait')
      } finally {
        reading.ended()
      }
      await pause(clock, retryAfter)
    }
    return undefined
  }
}
