import type { AudiencePartition } from '../../core/audience/partition.ts'
import type { MembershipRecord } from '../../core/audience/record.ts'
import type { Metrics } from '../../core/metrics.ts'
import { pause } from '../../core/pause.ts'
import type { Clock, Logger, LogRecord, PartitionReader, ValueCodec } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import { decodeLearning } from '../decode-learning.ts'
import type { Shard } from '../partitions/shard.ts'

/** Between two tries while Kafka or the registry cannot be reached. */
const retryAfter = durationMs(1_000)
/** Partitions at once: what was fetched of each lies in memory, and one core has to read them all. */
const mostAtOnce = 2

interface Deps {
  readonly reader: PartitionReader
  readonly codec: ValueCodec<MembershipRecord>
  readonly topic: string
  /** @param inputEnd the end of its input partition. */
  readonly newPartition: (inputEnd: number) => AudiencePartition
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Reads the memberships of one input partition, all there are. Resolves with undefined when that is not ours any more. */
export type Restore = (shard: Shard) => Promise<AudiencePartition | undefined>

export function createRestore({ reader, codec, topic, newPartition, clock, metrics, logger }: Deps): Restore {
  const places = new Places(mostAtOnce)

  /** Undefined: nobody can read it. @throws RegistryUnavailable */
  async function decoded({ value, partition, offset }: LogRecord): Promise<MembershipRecord | undefined> {
    const read = await decodeLearning(codec, () => codec.decode(value as Buffer))
    if (read.kind === 'value') return read.value
    const { detail } = read
    logger.error({ topic, partition, offset, detail }, 'membership cannot be read; what it said is not known any more')
    return undefined
  }

  async function read(shard: Shard): Promise<AudiencePartition> {
    const startedAt = clock.monotonic()
    const partition = newPartition(await reader.endOf(shard))
    const take = (record: LogRecord, value: MembershipRecord | undefined): void => {
      if (partition.restore(record.key?.toString() ?? '', value)) return
      logger.error(
        { topic, partition: shard.partition, offset: record.offset },
        'record is no membership; others wrote it',
      )
    }
    const records = await reader.readPartition({ topic, partition: shard.partition }, record => {
      if (shard.revoked) throw new Error('not ours any more')
      if (record.value === null) return take(record, undefined)
      const now = codec.decode(record.value)
      if (now.kind === 'value') return take(record, now.value)
      return decoded(record).then(value => value && take(record, value))
    })
    const seconds = (clock.monotonic() - startedAt) / 1_000
    metrics.audienceRestoreSeconds.observe({}, seconds)
    logger.info({ partition: shard.partition, records, ...partition.size(), seconds }, 'memberships restored')
    return partition
  }

  return async shard => {
    while (!shard.revoked) {
      await places.take()
      try {
        return await read(shard)
      } catch (error) {
        if (shard.revoked) break
        const fields = { topic, partition: shard.partition, error: (error as Error).message, retryInMs: retryAfter }
        logger.warn(fields, 'memberships cannot be read; their inputs wait')
      } finally {
        places.free()
      }
      await pause(clock, retryAfter)
    }
    return undefined
  }
}

class Places {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async take(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  free(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
