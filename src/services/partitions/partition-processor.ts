import { LastRouted } from '../../core/flow/last-routed.ts'
import { flowLimits } from '../../core/flow/limits.ts'
import { heldBytes, type PrefetchLimits } from '../../core/flow/prefetch-limits.ts'
import type { LogConsumer, LogRecord, Position, TopicPartition } from '../../core/ports.ts'
import { OffsetTracker } from '../../core/progress/offset-tracker.ts'
import { Unread } from './unread.ts'

const { resumeBelow } = flowLimits.prefetch

/** Why no record of a partition is admitted for now. */
export type PauseReason = 'backlog' | 'not_due' | 'schema' | 'restore'

interface Deps {
  readonly consumer: LogConsumer
  readonly limits: () => PrefetchLimits
  /** No reason to pause it is left. */
  readonly onResumed: (processor: PartitionProcessor) => void
}

/**
 * The in-process work of one partition from its assignment to its revocation. A new assignment makes
 * a new processor: calls to a revoked one have no effect.
 */
export class PartitionProcessor implements TopicPartition {
  readonly topic: string
  readonly partition: number
  readonly tracker: OffsetTracker
  readonly unread = new Unread()
  /** Set once; from then on another process may own the partition. */
  revoked = false
  /** It is being revoked: what waits stays for the next owner. */
  isLeaving = false
  /** Its records are being admitted now: guards against recursion. */
  isAdmitting = false
  /** Records admitted, done or not. */
  admitted = 0
  /** When the last batch of it came, in monotonic milliseconds. */
  fetchedAt = Number.NEGATIVE_INFINITY
  /** The partition's end as of the last fetch. */
  highWatermark: number
  readonly #deps: Deps
  readonly #pauses = new Set<PauseReason>()
  readonly #lastRouted = new LastRouted()
  #openBytes = 0
  #inProgress = 0
  #idle: PromiseWithResolvers<void> | undefined

  constructor(position: Position, deps: Deps) {
    this.topic = position.topic
    this.partition = position.partition
    this.tracker = new OffsetTracker(position.offset, position.metadata)
    this.highWatermark = position.offset
    this.#deps = deps
  }

  /** Whether an attempt may be started: only while nobody else can own the partition, now or soon. */
  get mayStart(): boolean {
    return !this.isLeaving && this.#deps.consumer.isConfirmed()
  }

  /** An attempt or a copy is in progress until `ended`. */
  started(): void {
    this.#inProgress++
  }

  ended(): void {
    if (--this.#inProgress > 0) return
    this.#idle?.resolve()
    this.#idle = undefined
  }

  /** Resolves when nothing is in progress. */
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

  /** Removes one reason; after the last one, records are admitted and fetched again. */
  resume(reason: PauseReason): void {
    if (this.#pauses.delete(reason) && this.#pauses.size === 0 && !this.revoked) this.#deps.onResumed(this)
  }

  /** Admits a record; false when an earlier owner was done with it. */
  admit(record: LogRecord): boolean {
    if (!this.tracker.add(record.offset)) return false
    this.admitted++
    this.#openBytes += heldBytes(record)
    if (this.#reaches(1)) this.pause('backlog')
    return true
  }

  done(record: LogRecord): void {
    if (this.revoked) return
    this.tracker.done(record.offset)
    this.#openBytes -= heldBytes(record)
    if (this.#pauses.has('backlog') && !this.#reaches(resumeBelow)) this.resume('backlog')
  }

  /** The limits may have been raised. */
  recheckLimits(): void {
    if (this.#pauses.has('backlog') && !this.#reaches(1)) this.resume('backlog')
  }

  /** One destination needs nothing more of a record that others still wait for. */
  partlyDone(record: LogRecord, destination: string): void {
    if (!this.revoked) this.tracker.partlyDone(record.offset, destination)
  }

  routed(record: LogRecord, destination: string): void {
    this.#lastRouted.add(record.offset, destination)
  }

  /** Whether records of other destinations wait behind this one's, from the lowest undone record on. */
  hasOthersThan(destination: string): boolean {
    return this.#lastRouted.hasOthersThan(destination, this.tracker.committable)
  }

  #reaches(share: number): boolean {
    const { records, bytes, span } = this.#deps.limits()
    return this.tracker.open > records * share || this.#openBytes > bytes * share || this.tracker.span > span * share
  }
}
