import { LastOffsetOfOthers } from '../../core/flow/last-offset-of-others.ts'
import { flowLimits } from '../../core/flow/limits.ts'
import { heldBytes, type PrefetchLimits } from '../../core/flow/prefetch-limits.ts'
import type { LedgerResult } from '../../core/ledger/ledger-counts.ts'
import type { LogConsumer, LogRecord, Position, RecordBatch, TopicPartition } from '../../core/ports.ts'
import { OffsetTracker, type RecordEntries } from '../../core/progress/offset-tracker.ts'
import { FetchBuffer } from './fetch-buffer.ts'

const { deliveriesPerRecord, resumeBelow, notDueBelow } = flowLimits.prefetch

/**
 * Why a partition is paused:
 * - `backlog`: it has reached its prefetch limits.
 * - `not_due`: its next retry record is not due yet.
 * - `schema`, `audience`: its next record needs a schema or an audience that this process does not
 *   know.
 * - `restore`: its audience memberships are being loaded.
 * - `revocation`: it is being revoked. If a record were admitted now, it could cause an append that
 *   ends after the last commit. The next owner of the partition would then repeat this append.
 * - `loss`: Kafka lost unread records, or may have lost some, and the service has not cancelled the
 *   affected syncs yet. Until then, no offset is committed. So if the process dies, the next owner
 *   finds the loss too.
 * - `stopping`: the process stops. This reason is never removed.
 */
export type PauseReason = 'backlog' | 'not_due' | 'schema' | 'audience' | 'restore' | 'revocation' | 'loss' | 'stopping'

interface Deps {
  readonly consumer: LogConsumer
  readonly limits: () => PrefetchLimits
  /** Called when the last reason for a pause is removed. */
  readonly onResumed: (processor: PartitionProcessor) => void
  /**
   * The first hour with complete ledger counts, in hours since 1970, if the commit of the partition
   * has no ledger yet, so that a ledger begins now. `undefined` for a topic that gets no ledger.
   */
  readonly exactSince: number | undefined
}

/**
 * Tracks what this process does on one partition, from the assignment of the partition to its
 * revocation. Each assignment creates a new processor. So a delivery that ends after a revocation
 * cannot change the progress of a later assignment.
 */
export class PartitionProcessor implements TopicPartition {
  readonly topic: string
  readonly partition: number
  readonly tracker: OffsetTracker
  readonly unread = new FetchBuffer()
  /**
   * Set when the partition is revoked, and never reset. Another process may then own the partition.
   */
  revoked = false
  /**
   * Whether the partition is being revoked. Its queued deliveries are then left to the next owner.
   */
  isLeaving = false
  /**
   * Whether `admit` (`partitions.ts`) is running for the partition. If `admit` is called again in
   * this time, the inner call returns immediately.
   */
  isAdmitting = false
  /** Number of records that were admitted since the partition was assigned, done or not. */
  admitted = 0
  /** When the partition's last batch was fetched, in monotonic milliseconds. */
  fetchedAt = Number.NEGATIVE_INFINITY
  /**
   * All records with offsets less than `below` were in the log at the time `at` (monotonic
   * milliseconds) or earlier. If the clock of a broker was ahead, the timestamps of its records are
   * too late. So a retry record waits at most its planned wait after `at`, even if it is due later
   * by its timestamp.
   */
  knownInLog = { below: 0, at: Number.NEGATIVE_INFINITY }
  /**
   * Whether the partition had a retry record whose timestamp was too late, because the clock of a
   * broker was ahead. Only the first of these records is logged.
   */
  hasLateTimestamp = false
  /** The end offset of the partition, as far as it is known: from a batch or from `endChecked`. */
  highWatermark: number
  /**
   * When the partition's last batch was fetched or its end offset was last checked, in monotonic
   * milliseconds.
   */
  endCheckedAt = Number.NEGATIVE_INFINITY
  readonly #deps: Deps
  readonly #pauses = new Set<PauseReason>()
  readonly #lastRouted = new LastOffsetOfOthers()
  #openBytes = 0
  /**
   * The number of deliveries in memory beyond the first one of each record. The first one is not
   * counted here, because the record itself counts towards the prefetch limit for records.
   */
  #deliveries = 0
  #inProgress = 0
  #idle: PromiseWithResolvers<void> | undefined

  constructor(position: Position, deps: Deps) {
    this.topic = position.topic
    this.partition = position.partition
    this.tracker = new OffsetTracker(position.offset, position.metadata, deps.exactSince)
    this.highWatermark = position.offset
    this.#deps = deps
  }

  /**
   * Whether the partition is being revoked or the process stops. A record that waits must then
   * cause no append: see `revocation` in `PauseReason`.
   */
  get isEnding(): boolean {
    return this.isLeaving || this.isPausedFor('stopping')
  }

  /**
   * Whether an attempt may start. False while the partition is being revoked, or after the session
   * lease has ended, because another process may then own the partition.
   */
  get mayStart(): boolean {
    return !this.isLeaving && this.#deps.consumer.holdsLease()
  }

  /**
   * Whether the results of records in progress may be written. False after the revocation, or after
   * the session lease has ended, because another process may then write them too.
   */
  get mayWrite(): boolean {
    return !this.revoked && this.#deps.consumer.holdsLease()
  }

  /** Adds a fetched batch. `now` is the current monotonic time in milliseconds. */
  fetched(batch: RecordBatch, now: number): void {
    this.highWatermark = batch.highWatermark
    this.endCheckedAt = now
    this.fetchedAt = now
    this.unread.add(batch)
  }

  /**
   * Notes that the end offset of the partition was read at the time `now` (monotonic milliseconds).
   * `end` is the offset, or `undefined` when the read failed. A batch that was fetched during the
   * read may have a higher end offset.
   */
  endChecked(end: number | undefined, now: number): void {
    this.highWatermark = Math.max(this.highWatermark, end ?? 0)
    this.endCheckedAt = Math.max(this.endCheckedAt, now)
  }

  /** Notes that an attempt or an append is in progress, until `ended` is called. */
  started(): void {
    this.#inProgress++
  }

  ended(): void {
    if (--this.#inProgress > 0) return
    this.#idle?.resolve()
    this.#idle = undefined
  }

  /** Resolves when no attempt or append is in progress. */
  async idle(): Promise<void> {
    if (this.#inProgress === 0) return
    this.#idle ??= Promise.withResolvers()
    await this.#idle.promise
  }

  get isPaused(): boolean {
    return this.#pauses.size > 0
  }

  isPausedFor(reason: PauseReason): boolean {
    return this.#pauses.has(reason)
  }

  pause(reason: PauseReason): void {
    if (this.#pauses.size === 0) this.#deps.consumer.pause(this)
    this.#pauses.add(reason)
  }

  /**
   * Removes one reason for the pause. When no reason is left, records are admitted and fetched
   * again.
   */
  resume(reason: PauseReason): void {
    if (this.#pauses.delete(reason) && this.#pauses.size === 0 && !this.revoked) this.#deps.onResumed(this)
  }

  /**
   * Admits a record, which is in progress from then on. Returns false, and does nothing, when an
   * earlier owner of the partition has already finished the record.
   */
  admit(record: LogRecord): boolean {
    if (!this.tracker.add(record.offset)) return false
    this.admitted++
    this.#openBytes += heldBytes(record)
    if (this.#reaches(1)) this.pause('backlog')
    return true
  }

  done(record: LogRecord, counted?: RecordEntries): void {
    if (this.revoked) return
    this.tracker.done(record.offset, counted)
    this.#openBytes -= heldBytes(record)
    this.#resumeBelowLimits()
  }

  /**
   * Notes that one more delivery of an admitted record is in memory. If the partition has too many
   * deliveries, it is paused when its next record is admitted.
   */
  deliveryAdded(): void {
    this.#deliveries++
  }

  /**
   * Notes that one delivery of a record has ended while others of this record are still in memory.
   */
  deliveryEnded(): void {
    this.#deliveries--
    this.#resumeBelowLimits()
  }

  #resumeBelowLimits(): void {
    if (this.#pauses.has('backlog') && !this.#reaches(resumeBelow)) this.resume('backlog')
  }

  /** Resumes the partition when raised limits leave room for more records. */
  recheckLimits(): void {
    if (this.#pauses.has('backlog') && !this.#reaches(1)) this.resume('backlog')
  }

  /**
   * Whether the partition has room in memory for a record that is not due yet. The room is limited:
   * if too many of these records waited, the partition would reach its prefetch limits, and unread
   * records for all other destinations would wait too.
   */
  get hasRoomForNotDue(): boolean {
    return !this.#reaches(notDueBelow)
  }

  /** Notes that one destination is done with a record that other destinations still need. */
  partlyDone(record: LogRecord, destination: string, result: LedgerResult): void {
    if (!this.revoked) this.tracker.partlyDone(record.offset, destination, result)
  }

  routed(record: LogRecord, destination: string): void {
    this.#lastRouted.add(record.offset, destination)
  }

  /**
   * Whether the partition has a record that is not for `destination`. The check begins at the first
   * record that is not done; later records count even if they are done.
   */
  hasRecordForOthers(destination: string): boolean {
    return this.#lastRouted.hasRecordForOthers(destination, this.tracker.committable)
  }

  #reaches(share: number): boolean {
    const { records, bytes, span } = this.#deps.limits()
    return (
      this.tracker.open > records * share ||
      this.#deliveries > records * deliveriesPerRecord * share ||
      this.#openBytes > bytes * share ||
      this.tracker.span > span * share
    )
  }
}
