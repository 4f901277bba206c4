import { type MembershipRecord, type ReadRecord, readRecord } from '../../core/audience/record.ts'
import { pause } from '../../core/pause.ts'
import type { Clock, Logger, LogRecord, PartitionReader, ValueCodec } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import { decodeLearning } from '../decode-learning.ts'
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

/** Between two tries while Kafka or the registry cannot be reached. */
const retryAfter = durationMs(1_000)

/**
 * How far a partition of the memberships log is known: every record before is read, or acknowledged to this process. Only the owner of a
 * partition writes to it, so the offsets of its own records follow each other. A hole between two of them is a record of somebody else:
 * of an earlier owner whose last requests arrive late, or one of this process whose answer was lost.
 */
export class LogTail {
  #next: number
  #unread: number | undefined

  constructor(next: number) {
    this.#next = next
  }

  /** A record of this process is in the log at an offset. */
  acknowledged(offset: number): void {
    this.reaches(offset)
    this.#next = Math.max(this.#next, offset + 1)
  }

  /** The log has records up to an offset. */
  reaches(end: number): void {
    if (end > this.#next) this.notRead(this.#next)
  }

  get hasUnread(): boolean {
    return this.#unread !== undefined
  }

  /** Where reading has to begin; undefined: nothing is unread. Asked again, it knows nothing until more is noticed. */
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

/** An owned partition, as far as its log is concerned. */
interface Tailed {
  readonly processor: Pick<PartitionProcessor, 'partition' | 'revoked'>
  readonly tail: LogTail
}

interface TailDeps<Held extends Tailed> {
  readonly log: MembershipsLog
  readonly clock: Clock
  readonly logger: Logger
  /** Takes the last record of each key. */
  readonly onFound: (records: Iterable<ReadRecord>, held: Held) => void
}

/** Reads what a partition's log has unread; one reading at a time. */
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
      logger.warn({ ...fields, retryInMs: retryAfter }, 'records of others in the memberships log cannot be read yet')
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

/** Records are compacted 6 hours after they were appended at the earliest (`topicConfig`). */
const checkEvery = durationMs(10 * 60_000)

/** Looks at the ends of the logs now and then: a partition to which this process writes nothing shows no hole. */
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
