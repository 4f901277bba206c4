import type { ReadRecord } from '../../core/audience/record.ts'
import { pause } from '../../core/pause.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import { type Chore, createChore } from '../chore.ts'
import type { Held } from './inputs.ts'
import type { MembershipsLog } from './memberships-log.ts'

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

interface Deps {
  readonly log: MembershipsLog
  readonly clock: Clock
  readonly logger: Logger
  /** Takes the last record of each key. */
  readonly onFound: (records: Iterable<ReadRecord>, held: Held) => void
}

/** Reads what a partition's log has unread; one reading at a time. */
export type ReadTail = (held: Held) => Promise<void>

export function createReadTail({ log, clock, logger, onFound }: Deps): ReadTail {
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
export function createLogCheck({
  log,
  clock,
  readTail,
  held,
}: Pick<Deps, 'log' | 'clock'> & { readonly readTail: ReadTail; readonly held: () => Iterable<Held> }): Chore {
  return createChore({
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
