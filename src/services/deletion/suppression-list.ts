import {
  decodeSuppressions,
  type Stoppable,
  SuppressionIndex,
  type UserSuppressions,
} from '../../core/deletion/suppressions.ts'
import type { Clock, Logger, LogProducer, LogRecord, TopicFollower } from '../../core/ports.ts'
import { type DurationMs, durationMs, type EpochMs } from '../../core/units.ts'
import { createPeriodicTask, type PeriodicTask } from '../periodic-task.ts'
import { madeOfHeader, SuppressionWrites } from './suppression-writes.ts'

/** So long after a deletion was accepted no attempt is started any more for what was received before it. */
const longestAge = durationMs(5_000)

interface Deps {
  /** Of the suppressions topic. */
  readonly follower: TopicFollower
  readonly producer: LogProducer
  readonly topic: string
  /** How long a mark without suppression is kept. Absent: as long as the topics keep records when they are as they were created. */
  readonly lasts?: DurationMs
  readonly clock: Clock
  readonly logger: Logger
}

/** What is known of deleted users, by the suppressions topic: the same in every process, and shared by all services of one. */
export interface SuppressionList {
  /** Resolves when all marks have been read. Rejects while the topic cannot be read. */
  start(): Promise<void>
  stop(): Promise<void>
  /** How many users have marks: with none, nothing has to be looked up. */
  readonly size: number
  get(userId: string): UserSuppressions | undefined
  /** As `SuppressionIndex.stops`. */
  stops(about: Stoppable, now: EpochMs): 'user_deleted' | 'suppressed' | undefined
  /** Everything that was accepted longer ago than this is known; infinite before the start. */
  age(): DurationMs
  /** Whether nothing that was accepted 5 s ago can be missing. Cheap. */
  isCurrent(): boolean
  /** Called whenever `isCurrent` holds again after it did not. */
  onCurrent(listener: () => void): void
  /**
   * Changes the marks of one user, by what the topic holds of them when that gets there: `change` is called again where another writer was
   * faster, so that neither undoes the other. Resolves when all replicas have it and this process has read it back; rejects when it is not
   * known whether they do.
   */
  update(userId: string, change: (marks: UserSuppressions | undefined) => UserSuppressions | undefined): Promise<void>
  /** Takes what is over out of the topic and writes together what two writers wrote, of so many users at most; resolves with how many they were. */
  tidy(mostUsers: number): Promise<number>
}

export function createSuppressionList({ follower, producer, topic, lasts, clock, logger }: Deps): SuppressionList {
  const index = new SuppressionIndex(lasts)
  const writes = new SuppressionWrites({ producer, topic, clock, index })
  const listeners: (() => void)[] = []
  let knownUntil = Number.NEGATIVE_INFINITY

  const age = (): DurationMs => durationMs(clock.boottime() - knownUntil)
  const isCurrent = (): boolean => age() < longestAge

  function onRecord(record: LogRecord): void {
    const { key, value, headers, partition, offset } = record
    const marks = value === null ? undefined : decodeSuppressions(value.toString())
    if (key === null || (value !== null && marks === undefined))
      return logger.error({ topic, partition, offset }, 'marks of a deleted user cannot be read; others wrote them')
    const userId = key.toString()
    if (writes.isLost(userId, record)) return
    const madeOf = headers[madeOfHeader]
    index.apply(userId, marks, offset, madeOf === undefined ? undefined : Number(madeOf))
  }

  function onCurrent(asOf: number): void {
    const wasCurrent = isCurrent()
    knownUntil = asOf
    if (!wasCurrent && isCurrent()) for (const listener of listeners) listener()
  }

  return {
    start: () => follower.start({ onRecord, onCurrent }),
    stop: () => follower.stop(),
    get size() {
      return index.size
    },
    get: userId => index.get(userId),
    stops: (about, now) => index.stops(about, now),
    age,
    isCurrent,
    onCurrent: listener => void listeners.push(listener),
    update: (userId, change) => writes.update(userId, change),
    async tidy(mostUsers) {
      const now = clock.now()
      const users: string[] = []
      for (const userId of index.outdated(now)) {
        users.push(userId)
        if (users.length === mostUsers) break
      }
      await Promise.all(users.map(userId => writes.update(userId, marks => marks && index.lasting(marks, now))))
      return users.length
    },
  }
}

/** Marks last for weeks: nobody waits for one to go. */
const lookEvery = durationMs(10 * 60_000)
/** In small parts: the process has other things to do. */
const usersAtOnce = 500
const againAfter = durationMs(1_000)

interface CompactionDeps {
  readonly marks: Pick<SuppressionList, 'tidy' | 'isCurrent'>
  /** Whether it is this process that does it: one is enough, and two do no harm. */
  readonly isOurs: () => boolean
  readonly clock: Clock
  readonly logger: Logger
}

/** Takes marks that are over out of their topic, slowly. */
export function createSuppressionCompaction({ marks, isOurs, clock, logger }: CompactionDeps): PeriodicTask {
  const turn = async (): Promise<DurationMs> => (isOurs() && !(await isTidied()) ? againAfter : lookEvery)

  /** Whether nothing is left to do for now. */
  async function isTidied(): Promise<boolean> {
    if (!marks.isCurrent()) return false
    try {
      return (await marks.tidy(usersAtOnce)) < usersAtOnce
    } catch (error) {
      logger.warn({ error: (error as Error).message }, 'marks of deletions that are over stay for now')
      return true
    }
  }

  return createPeriodicTask({ clock, firstAfter: lookEvery, turn })
}
