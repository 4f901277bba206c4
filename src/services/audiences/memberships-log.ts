import {
  type MembershipRecord,
  parseMembershipKey,
  type ReadRecord,
  readRecord,
} from '../../core/audience/membership-record.ts'
import { pause } from '../../core/pause.ts'
import type { Clock, Logger, LogRecord, PartitionReader, ValueCodec } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import { decodeWithSchemaFetch } from '../decode-with-schema-fetch.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createPeriodicTask, type PeriodicTask } from '../periodic-task.ts'

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
   * Passes the records from an offset to the current end to `onRecord`, except those that cannot be
   * decoded. Resolves with the offset after the last record that it passed, and the number of
   * records that it read. Rejects when Kafka or the schema registry cannot be reached, and when
   * `onRecord` throws.
   */
  read(
    partition: number,
    from: number,
    onRecord: (record: ReadRecord, offset: number) => void,
  ): Promise<{ readonly next: number; readonly records: number }>
  /** Returns the end offset of a partition. */
  endOf(partition: number): Promise<number>
  /** Logs a record that is not a membership; another program wrote it. */
  logUnreadable(partition: number, offset: number): void
}

export function createMembershipsLog({ reader, codec, topic, logger }: Deps): MembershipsLog {
  /**
   * Decodes a value whose schema is not known yet. Resolves with `undefined` when it cannot be
   * decoded. @throws RegistryUnavailable
   */
  async function learned({ key, value, partition, offset }: LogRecord): Promise<MembershipRecord | undefined> {
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
        if (record.value === null) return take(record, undefined)
        const now = codec.decode(record.value)
        if (now.kind === 'value') return take(record, now.value)
        return learned(record).then(value => value && take(record, value))
      }
      const records = await reader.readPartition({ topic, partition }, onLogRecord, from)
      return { next, records }
    },
    endOf: partition => reader.endOf({ topic, partition }),
    logUnreadable: (partition, offset) =>
      logger.error(
        { topic, partition, offset },
        'record is not a membership, so another program wrote it; hookline ignores it: let only hookline write to this topic',
      ),
  }
}

const undecodable =
  'membership record cannot be decoded; hookline ignores it, so a destination may keep a wrong value: run `hookline audience reset` for this audience, then sync it again'

/** Wait before a retry while Kafka or the schema registry cannot be reached. */
const retryAfter = durationMs(1_000)

/**
 * Tracks up to which offset this process knows a partition of the memberships topic. It knows a
 * record that it has read, and a record that it has written once Kafka has acknowledged the write.
 * Only the owner of a partition writes to the partition, so the offsets of the owner's records
 * follow each other. A gap is a record that this process does not know. Either an earlier owner
 * wrote that record, and its last writes arrived late, or this process wrote the record and the
 * acknowledgement was lost.
 */
export class LogTail {
  #next: number
  #unread: number | undefined

  constructor(next: number) {
    this.#next = next
  }

  /** Notes the offset of a record that this process wrote. */
  acknowledged(offset: number): void {
    this.reaches(offset)
    this.#next = Math.max(this.#next, offset + 1)
  }

  /** Notes that the end offset of the partition is at least `end`. */
  reaches(end: number): void {
    if (end > this.#next) this.notRead(this.#next)
  }

  get hasUnread(): boolean {
    return this.#unread !== undefined
  }

  /**
   * Returns the offset of the first unread record; `undefined` when nothing is unread. Further
   * calls return `undefined` until another gap is found.
   */
  takeUnread(): number | undefined {
    const from = this.#unread
    this.#unread = undefined
    return from
  }

  notRead(from: number): void {
    this.#unread = Math.min(from, this.#unread ?? from)
  }

  readTo(next: number): void {
    this.#next = Math.max(this.#next, next)
  }
}

/** An owned partition and the known part of its log. */
interface Tailed {
  readonly processor: Pick<PartitionProcessor, 'partition' | 'revoked'>
  readonly tail: LogTail
}

interface TailDeps<Held extends Tailed> {
  readonly log: MembershipsLog
  readonly clock: Clock
  readonly logger: Logger
  /** Gets the last unread record of each key. */
  readonly onFound: (records: Iterable<ReadRecord>, held: Held) => void
}

/** Reads the unread records of a partition, one read at a time. */
export type ReadTail<Held extends Tailed> = (held: Held) => Promise<void>

export function createReadTail<Held extends Tailed>({ log, clock, logger, onFound }: TailDeps<Held>): ReadTail<Held> {
  const reading = new WeakSet<Held>()

  async function readFrom(from: number, held: Held): Promise<void> {
    const { processor, tail } = held
    const last = new Map<string, ReadRecord>()
    try {
      const { next } = await log.read(processor.partition, from, record => last.set(record.key, record))
      tail.readTo(next)
    } catch (error) {
      tail.notRead(from)
      const fields = { topic: log.topic, partition: processor.partition, from, error: (error as Error).message }
      logger.warn({ ...fields, retryInMs: retryAfter }, 'cannot read memberships; hookline retries')
      return pause(clock, retryAfter)
    }
    if (!processor.revoked) onFound(last.values(), held)
  }

  return async held => {
    if (reading.has(held)) return
    reading.add(held)
    for (let from = held.tail.takeUnread(); from !== undefined; from = held.tail.takeUnread()) {
      if (held.processor.revoked) break
      await readFrom(from, held)
    }
    reading.delete(held)
  }
}

/**
 * Time between two checks. It is less than the 6 hours for which compaction keeps every record
 * (`topicConfig`).
 */
const checkEvery = durationMs(10 * 60_000)

/**
 * Checks the end offsets of all partitions periodically, because no acknowledgement shows a gap in
 * a partition to which this process writes nothing.
 */
export function createLogCheck<Held extends Tailed>({
  log,
  clock,
  readTail,
  held,
}: Pick<TailDeps<Held>, 'log' | 'clock'> & {
  readonly readTail: ReadTail<Held>
  readonly held: () => Iterable<Held>
}): PeriodicTask {
  return createPeriodicTask({
    clock,
    firstAfter: checkEvery,
    async turn() {
      for (const each of [...held()]) {
        const end = await log.endOf(each.processor.partition).catch(() => 0)
        each.tail.reaches(end)
        await readTail(each)
      }
      return checkEvery
    },
  })
}
