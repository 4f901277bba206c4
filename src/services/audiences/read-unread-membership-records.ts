import type { ReadRecord } from '../../core/audience/membership-and-watermark-records.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createPeriodicTask, type PeriodicTask } from '../periodic-task.ts'
import type { MembershipsReader } from './memberships-reader.ts'

/** Wait after Kafka or the schema registry could not be reached. */
const retryAfter = durationMs(1_000)

/**
 * Tracks up to which offset this process knows the records of a memberships partition. If Kafka
 * stores a record of this process at an offset after `next`, the records in between are unread:
 * another process wrote them.
 */
export class LogTail {
  #next: number
  #unread: number | undefined

  constructor(next: number) {
    this.#next = next
  }

  /** The offset after the last known record. */
  get next(): number {
    return this.#next
  }

  /** Notes the offset of a record that this process wrote. */
  acknowledged(offset: number): void {
    this.reaches(offset)
    this.#next = Math.max(this.#next, offset + 1)
  }

  /**
   * Notes that the end offset is at least `end`. If `next` is lower, the records from `next` on are
   * unread.
   */
  reaches(end: number): void {
    if (end > this.#next) this.notRead(this.#next)
  }

  get hasUnread(): boolean {
    return this.#unread !== undefined
  }

  /**
   * Returns and forgets the first unread offset. The caller must read from this offset or call
   * `notRead`.
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

interface Tailed {
  readonly processor: Pick<PartitionProcessor, 'partition' | 'revoked'>
  readonly tail: LogTail
}

interface TailDeps<Held extends Tailed> {
  readonly log: MembershipsReader
  readonly clock: Clock
  readonly logger: Logger
  /** Gets, for each key, the last of the records that were read. */
  readonly onFound: (records: Iterable<ReadRecord>, held: Held) => void
}

/**
 * Reads the unread records of a partition. During a call, a second call for the partition returns
 * immediately.
 */
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
      logger.warn(
        { ...fields, retryInMs: retryAfter },
        'hookline cannot read the newest records of this partition of the memberships topic (see "error"), so it may use old values of some audience members; it tries again after the time in "retryInMs"; if this line repeats, check Kafka and the schema registry',
      )
      return sleep(clock, retryAfter)
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
 * Time between two checks. Compaction keeps every record for 6 hours (`topicConfig`), so a check
 * finds each unread record before compaction can remove the record.
 */
const checkEvery = durationMs(10 * 60_000)

/**
 * Periodically reads unread records of all owned partitions. Otherwise they would be read only when
 * this process writes a record.
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
    firstRunAfter: checkEvery,
    async run() {
      for (const each of [...held()]) {
        const end = await log.endOf(each.processor.partition).catch(() => 0)
        each.tail.reaches(end)
        await readTail(each)
      }
      return checkEvery
    },
  })
}
