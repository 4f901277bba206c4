import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import { LastOffsetOfOthers } from '../../core/flow/last-offset-of-other-destinations.ts'
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
 * - `schema`, `audience`: this process does not know the schema or audience of its next record.
 * - `restore`: its audience memberships are being loaded.
 * - `revocation`: it is being revoked. If this process admitted more records, the next owner would
 *   repeat their appends.
 * - `loss`: unread records may be lost. The pause prevents commits, so that the next owner notices
 *   the loss too.
 * - `stopping`: the process stops. This reason is never removed.
 */
export type PauseReason = 'backlog' | 'not_due' | 'schema' | 'audience' | 'restore' | 'revocation' | 'loss' | 'stopping'

interface Deps {
  readonly consumer: LogConsumer
  readonly limits: () => PrefetchLimits
  /** Called when the last reason for a pause is removed. */
  readonly onResumed: (processor: PartitionProcessor) => void
  /**
   * The first hour (in hours since 1970) with complete ledger counts. An earlier hour in the
   * metadata of the last commit takes precedence. `undefined` without a ledger.
   */
  readonly exactSince: number | undefined
}

/**
 * What this process does on one partition. Each assignment has a new processor, so that late
 * deliveries of an earlier assignment cannot change its progress.
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
  /** Whether the partition is being revoked. Queued deliveries are then left to the next owner. */
  isLeaving = false
  /**
   * Whether `admit` (`partitions.ts`) is running. Another call of `admit` then returns immediately.
   */
  isAdmitting = false
  /** Number of records that were admitted since the assignment, done or not. */
  admitted = 0
  /** When the last batch was fetched, in monotonic ms. */
  fetchedAt = Number.NEGATIVE_INFINITY
  /**
   * Records before offset `below` were in the log at the time `at` (monotonic ms). So the wait of a
   * retry record among them began at `at` or earlier, even if its timestamp is later.
   */
  knownInLog = { below: 0, at: Number.NEGATIVE_INFINITY }
  /**
   * Whether a retry record had a timestamp in the future, because a broker's clock was ahead. Only
   * the first of these records is logged.
   */
  hasFutureTimestamp = false
  /** The last known end offset of the partition, from a batch or from `endChecked`. */
  highWatermark: number
  /**
   * When the last batch was fetched or the end offset was last checked, in monotonic milliseconds.
   */
  endCheckedAt = Number.NEGATIVE_INFINITY
  readonly #deps: Deps
  readonly #pauses = new Set<PauseReason>()
  readonly #lastRouted = new LastOffsetOfOthers()
  #openBytes = 0
  /**
   * Number of deliveries in memory, except the first one of each record: it is already counted as a
   * record.
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
   * Whether this process will lose the partition. A record that waits, for example for its schema,
   * must then not cause an append (see `revocation` in `PauseReason`).
   */
  get isEnding(): boolean {
    return this.isLeaving || this.isPausedFor('stopping')
  }

  /**
   * Whether an attempt may start. False during a revocation, and after the end of the session
   * lease.
   */
  get mayStart(): boolean {
    return !this.isLeaving && this.#deps.consumer.holdsLease()
  }

  /**
   * Whether results may be written. False after a revocation, and after the end of the session
   * lease.
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
   * Notes the end offset read at `now` (monotonic ms); `undefined` after a failed read. A higher
   * end offset from a batch that was fetched since then is kept.
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

  /** Removes a reason for the pause. When none is left, records are admitted and fetched again. */
  resume(reason: PauseReason): void {
    if (this.#pauses.delete(reason) && this.#pauses.size === 0 && !this.revoked) this.#deps.onResumed(this)
  }

  /**
   * Admits a record. Returns false, and does nothing, when an earlier owner has finished the
   * record.
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
   * Counts a further delivery. Does not pause the partition, even above a limit: only `admit` does.
   */
  deliveryAdded(): void {
    this.#deliveries++
  }

  /** Called when a delivery has ended, but other deliveries of its record are still in memory. */
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
   * Whether the partition may keep a record that is not due yet. If these records filled the
   * prefetch limits, reading would pause, and due records would stay unread.
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
   * Whether the first unfinished record, or one after it, is for a destination other than
   * `destination`. Done records count too, because only offsets are compared.
   */
  hasRecordForOthers(destination: string): boolean {
    return this.#lastRouted.hasRecordForOthers(destination, this.tracker.committable)
  }

  #reaches(share: number): boolean {
    const { records, bytes, span } = this.#deps.limits()
    return (
      this.tracker.inProgressCount > records * share ||
      this.#deliveries > records * deliveriesPerRecord * share ||
      this.#openBytes > bytes * share ||
      this.tracker.offsetSpan > span * share
    )
  }
}
