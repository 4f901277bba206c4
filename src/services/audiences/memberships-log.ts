import { type MembershipRecord, type ReadRecord, readRecord } from '../../core/audience/record.ts'
import type { Logger, LogRecord, PartitionReader, ValueCodec } from '../../core/ports.ts'
import { decodeLearning } from '../decode-learning.ts'

interface Deps {
  readonly reader: PartitionReader
  readonly codec: ValueCodec<MembershipRecord>
  readonly topic: string
  readonly logger: Logger
}

/** Reads partitions of the memberships topic. */
export interface MembershipsLog {
  readonly topic: string
  /**
   * Hands over each record from an offset on, up to the end as of now. Resolves with the offset behind the last one and the number of
   * records. Rejects when Kafka or the registry cannot be reached, and with what `onRecord` throws.
   */
  read(
    partition: number,
    from: number,
    onRecord: (record: ReadRecord, offset: number) => void,
  ): Promise<{ readonly next: number; readonly records: number }>
  /** The end of a partition. */
  endOf(partition: number): Promise<number>
  /** A record is no membership: somebody else wrote it. */
  tellUnreadable(partition: number, offset: number): void
}

export function createMembershipsLog({ reader, codec, topic, logger }: Deps): MembershipsLog {
  /** Undefined: nobody can read it. @throws RegistryUnavailable */
  async function learned({ value, partition, offset }: LogRecord): Promise<MembershipRecord | undefined> {
    const read = await decodeLearning(codec, () => codec.decode(value as Buffer))
    if (read.kind === 'value') return read.value
    const { detail } = read
    logger.error({ topic, partition, offset, detail }, 'membership cannot be read; what it said is not known any more')
    return undefined
  }

  return {
    topic,
    async read(partition, from, onRecord) {
      let next = from
      const take = (record: LogRecord, value: MembershipRecord | undefined): void => {
        next = record.offset + 1
        onRecord(readRecord(record, value), record.offset)
      }
      const onLogRecord = (record: LogRecord): void | Promise<void> => {
        if (record.value === null) return take(record, undefined)
        const now = codec.decode(record.value)
        if (now.kind === 'value') return take(record, now.value)
        return learned(record).then(value => value && take(record, value))
      }
      const records = await reader.readPartition({ topic, partition }, onLogRecord, from)
      return { next, records }
    },
    endOf: partition => reader.endOf({ topic, partition }),
    tellUnreadable: (partition, offset) =>
      logger.error({ topic, partition, offset }, 'record is no membership; others wrote it'),
  }
}
