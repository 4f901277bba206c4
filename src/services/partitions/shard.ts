import { type BacklogLimits, heldBytes } from '../../core/delivery/backlog.ts'
import { LastRouted } from '../../core/delivery/last-routed.ts'
import { OffsetTracker } from '../../core/delivery/tracker.ts'
import type { LogConsumer, LogRecord, Position, TopicPartition } from '../../core/ports.ts'
import { Unread } from './unread.ts'

/** Why nothing of a partition is taken up for now. */
export type Hold = 'backlog' | 'not_due' | 'schema' | 'restore'

interface Deps {
  readonly consumer: LogConsumer
  readonly limits: () => BacklogLimits
  /** Nothing holds it any more. */
  readonly onFree: (shard: Shard) => void
}

/**
 * One partition from its assignment to its revocation. A new assignment makes a new shard: whatever still refers to a revoked one
 * changes nothing any more.
 */
export class Shard implements TopicPartition {
  readonly topic: string
  readonly partition: number
  readonly tracker: OffsetTracker
  readonly unread = new Unread()
  /** Set once; from then on another process may own the partition. */
  revoked = false
  /** It is to be given up: what waits stays where it is, for the next owner. */
  isLeaving = false
  /** Its records are being taken up right now. */
  isTakingUp = false
  /** How many records were taken up, done or not. */
  takenUp = 0
  /** When the last batch of it came, in monotonic milliseconds. */
  fetchedAt = Number.NEGATIVE_INFINITY
  /** The partition's end as of the last fetch. */
  highWatermark: number
  readonly #deps: Deps
  readonly #holds = new Set<Hold>()
  readonly #lastRouted = new LastRouted()
  #openBytes = 0
  #underWay = 0
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

  /** An attempt or a copy is under way until `ended`. */
  started(): void {
    this.#underWay++
  }

  ended(): void {
    if (--this.#underWay > 0) return
    this.#idle?.resolve()
    this.#idle = undefined
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    if (this.#underWay === 0) return
    this.#idle ??= Promise.withResolvers()
    await this.#idle.promise
  }

  get isHeld(): boolean {
    return this.#holds.size > 0
  }

  holds(why: Hold): boolean {
    return this.#holds.has(why)
  }

  hold(why: Hold): void {
    if (this.#holds.size === 0) this.#deps.consumer.pause(this)
    this.#holds.add(why)
  }

  /** Ends one hold; when it was the last, taking up and fetching go on. */
  unhold(why: Hold): void {
    if (this.#holds.delete(why) && this.#holds.size === 0 && !this.revoked) this.#deps.onFree(this)
  }

  /** Takes a record in; false when an earlier owner was done with it. */
  opened(record: LogRecord): boolean {
    if (!this.tracker.add(record.offset)) return false
    this.takenUp++
    this.#openBytes += heldBytes(record)
    if (this.#reaches(1)) this.hold('backlog')
    return true
  }

  done(record: LogRecord): void {
    if (this.revoked) return
    this.tracker.done(record.offset)
    this.#openBytes -= heldBytes(record)
    if (this.#holds.has('backlog') && !this.#reaches(0.5)) this.unhold('backlog')
  }

  /** The limits may be further away than before. */
  reconsider(): void {
    if (this.#holds.has('backlog') && !this.#reaches(1)) this.unhold('backlog')
  }

  /** One destination needs nothing more of a record that others still wait for. */
  partlyDone(record: LogRecord, destination: string): void {
    if (!this.revoked) this.tracker.partlyDone(record.offset, destination)
  }

  routed(record: LogRecord, destination: string): void {
    this.#lastRouted.add(record.offset, destination)
  }

  /** Whether, from the lowest undone record on, there were any for other destinations: then these wait for this one. */
  hasOthersThan(destination: string): boolean {
    return this.#lastRouted.hasOthersThan(destination, this.tracker.committable)
  }

  #reaches(share: number): boolean {
    const { records, bytes, span } = this.#deps.limits()
    return this.tracker.open > records * share || this.#openBytes > bytes * share || this.tracker.span > span * share
  }
}
