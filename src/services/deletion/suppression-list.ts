import {
  decodeSuppressions,
  type SuppressibleRecord,
  SuppressionIndex,
  type UserSuppressions,
} from '../../core/deletion/suppressions.ts'
import { unreadBatchFields } from '../../core/logging/unread-batch-fields.ts'
import type { Clock, Logger, LogProducer, LogRecord, TopicFollower } from '../../core/ports.ts'
import { type DurationMs, durationMs, type EpochMs } from '../../core/time.ts'
import { basedOnHeader, type ChangeSuppressions, SuppressionWrites } from './suppression-writes.ts'

/**
 * Attempts start only while the `age` of the list is below this. So no attempt for a user starts
 * more than 5 s after the user's deletion.
 */
const maxAge = durationMs(5_000)

interface Deps {
  /** Follows the suppressions topic. */
  readonly follower: TopicFollower
  readonly producer: LogProducer
  readonly topic: string
  /**
   * How long a suppression is kept. A suppression that also stops events received after the
   * deletion never expires.
   */
  readonly retention: DurationMs
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The suppressions of all users, read from the suppressions topic, for all services of the process.
 */
export interface SuppressionList {
  /** Resolves when the topic has been read to its end. Rejects if this fails after all retries. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Number of users in the list. */
  readonly size: number
  get(userId: string): UserSuppressions | undefined
  /**
   * Returns why a record must not be processed: its user was deleted after the record was received,
   * or is suppressed.
   */
  stops(about: SuppressibleRecord, now: EpochMs): 'user_deleted' | 'suppressed' | undefined
  /**
   * The age of the list. The list has all deletions that were accepted at least this many
   * milliseconds ago. Infinite before the start.
   */
  age(): DurationMs
  /** Whether the list is less than 5 s old, so that attempts may start. */
  isCurrent(): boolean
  /** Adds a listener for when `isCurrent` becomes true again. */
  onCurrent(listener: () => void): void
  /**
   * Changes one user's record, and resolves when this process has read the record back. Calls
   * `change` again if another process writes first. If the promise rejects, Kafka may still have
   * stored the record.
   */
  update(userId: string, change: ChangeSuppressions): Promise<void>
  /**
   * Writes the records of at most `maxUsers` users again. Removes expired suppressions, and adds
   * the suppressions that a user's last record lacks because two processes wrote concurrently.
   * Resolves with the number of users whose records were written.
   */
  compact(maxUsers: number): Promise<number>
}

/**
 * Whether the list has all records that were written before `moment`, in monotonic milliseconds.
 */
export const includesAllBefore = (
  moment: number,
  suppressions: Pick<SuppressionList, 'age'>,
  clock: Pick<Clock, 'monotonic'>,
): boolean => clock.monotonic() - suppressions.age() >= moment

const undecodable =
  'record of a user deletion cannot be decoded, so hookline may deliver events of the deleted user: read the user id from the key of this record, and delete the user again with `hookline delete-user`'

const unread =
  'records of user deletions cannot be read (see "detail"), so hookline may deliver events of the deleted users: find the deletion requests from about the time in "writtenAt", and delete their users again with `hookline delete-user`'

const keyless =
  'a record of the suppressions topic has no key, so hookline ignores this record: find and stop the program that wrote it, because only hookline may write to this topic'

export function createSuppressionList({ follower, producer, topic, retention, clock, logger }: Deps): SuppressionList {
  const index = new SuppressionIndex(retention)
  const writes = new SuppressionWrites({ producer, topic, clock, index })
  const listeners: (() => void)[] = []
  /**
   * The suppressions read so far from each partition that is read again, because Kafka lost
   * records. Until the end of the partition is reached, callers get the suppressions in `index`.
   */
  const rebuilt = new Map<number, SuppressionIndex>()
  let knownUntil = Number.NEGATIVE_INFINITY

  const age = (): DurationMs => durationMs(clock.boottime() - knownUntil)
  const isCurrent = (): boolean => age() < maxAge

  function onRecord(record: LogRecord): void {
    const { key, value, headers, partition, offset, unreadBatch } = record
    if (unreadBatch !== undefined) return logger.error(unreadBatchFields(record, unreadBatch), unread)
    const into = rebuilt.get(partition) ?? index
    const suppressions = value === null ? undefined : decodeSuppressions(value.toString())
    if (key === null) return logger.error({ topic, partition, offset }, keyless)
    if (value !== null && suppressions === undefined) return logger.error({ topic, partition, offset }, undecodable)
    const userId = key.toString()
    const basedOnOffset = headers[basedOnHeader]
    const previous = into.get(userId)
    into.apply(userId, suppressions, offset, basedOnOffset === undefined ? undefined : Number(basedOnOffset), partition)
    writes.readBack(userId, record, previous, into)
  }

  function onCurrent(asOf: number): void {
    for (const [partition, users] of rebuilt) index.replace(partition, users)
    rebuilt.clear()
    const wasCurrent = isCurrent()
    knownUntil = asOf
    if (!wasCurrent && isCurrent()) for (const listener of listeners) listener()
  }

  const onTruncated = (partition: number) => rebuilt.set(partition, new SuppressionIndex(retention))

  return {
    start: () => follower.start({ onRecord, onCurrent, onTruncated }),
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
    async compact(maxUsers) {
      const now = clock.now()
      const users: string[] = []
      for (const userId of index.outdated(now)) {
        users.push(userId)
        if (users.length === maxUsers) break
      }
      const removeExpired: ChangeSuppressions = suppressions => suppressions && index.unexpired(suppressions, now)
      await Promise.all(users.map(userId => writes.update(userId, removeExpired)))
      return users.length
    },
  }
}
