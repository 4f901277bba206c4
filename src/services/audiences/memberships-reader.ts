import {
  type MembershipRecord,
  parseMembershipKey,
  type ReadRecord,
  readRecord,
} from '../../core/audience/membership-and-watermark-records.ts'
import { unreadBatchFields } from '../../core/logging/unread-batch-fields.ts'
import type { Logger, LogRecord, PartitionReader, ValueCodec } from '../../core/ports.ts'
import { decodeWithSchemaFetch } from '../decode-with-schema-fetch.ts'

interface Deps {
  readonly reader: PartitionReader
  readonly codec: ValueCodec<MembershipRecord>
  readonly topic: string
  readonly logger: Logger
}

/** Reads partitions of the memberships topic. */
export interface MembershipsReader {
  readonly topic: string
  /**
   * Calls `onRecord` with the readable records from offset `from` to the end. In the result, `next`
   * is the offset after the last readable record, or `from` without one. Rejects if Kafka or the
   * schema registry fails, or `onRecord` throws.
   */
  read(
    partition: number,
    from: number,
    onRecord: (record: ReadRecord, offset: number) => void,
  ): Promise<{ readonly next: number; readonly records: number }>
  /** Returns the end offset of a partition. */
  endOf(partition: number): Promise<number>
  /** Logs that a record, perhaps of another program, is not a membership. */
  logUnreadable(partition: number, offset: number): void
}

export function createMembershipsReader({ reader, codec, topic, logger }: Deps): MembershipsReader {
  /**
   * Fetches the Avro schema and decodes a membership; `undefined` when it cannot be decoded.
   * @throws RegistryUnavailable
   */
  async function fetchSchemaAndDecode(record: LogRecord): Promise<MembershipRecord | undefined> {
    const { key, value, partition, offset } = record
    const read = await decodeWithSchemaFetch(codec, () => codec.decode(value as Buffer))
    if (read.kind === 'value') return read.value
    const { detail } = read
    const audience = parseMembershipKey(String(key))?.audience
    logger.error({ topic, partition, offset, audience, detail }, undecodable)
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
        if (record.unreadBatch !== undefined) return logger.error(unreadBatchFields(record, record.unreadBatch), unread)
        if (record.value === null) return take(record, undefined)
        const now = codec.decode(record.value)
        if (now.kind === 'value') return take(record, now.value)
        return fetchSchemaAndDecode(record).then(value => value && take(record, value))
      }
      const records = await reader.readPartition({ topic, partition }, onLogRecord, from)
      return { next, records }
    },
    endOf: partition => reader.endOf({ topic, partition }),
    logUnreadable: (partition, offset) =>
      logger.error(
        { topic, partition, offset },
        'another program wrote a record to the audience memberships topic, and hookline ignores this record: find and stop the program, because only hookline may write to this topic',
      ),
  }
}

const undecodable =
  'record of an audience membership cannot be decoded, so a destination may have a wrong value for one user (the key of the record has the user id); run `hookline audience reset` for the audience, then send its whole list again; if the list does not have this user, correct the value at the destination yourself'

const unread =
  'records of audience memberships cannot be read (see "detail"), so destinations may have wrong audience values for some users; run `hookline audience reset` for each audience, then send its whole list again; this does not correct users who are not in the list: correct their values at the destinations yourself'
