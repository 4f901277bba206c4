import { OffsetTracker } from '../../core/delivery/tracker.ts'
import type { LogConsumer, LogRecord, Position, TopicPartition } from '../../core/ports.ts'

/** What one partition may hold open before it is paused; it goes on below half. */
const limits = {
  records: 2_000,
  bytes: 8 * 1024 * 1024,
  /** Highest received − lowest undone: bounds what is read again after a crash behind one slow record. */
  span: 20_000,
}

/** Why a partition is not fetched for now. */
export type Hold = 'backlog' | 'not_due' | 'schema'

/**
 * One partition from its assignment to its revocation. A new assignment makes a new shard: whatever still refers to a revoked one
 * changes nothing any more.
 */
export class Shard implements TopicPartition {
  readonly topic: string
  readonly partition: number
  readonly tracker: OffsetTracker
  /** Set once; from then on another process may own the partition. */
  revoked = false
  /** The partition's end as of the last fetch. */
  highWatermark: number
  readonly #consumer: LogConsumer
  readonly #holds = new Set<Hold>()
  #openBytes = 0

  constructor(position: Position, consumer: LogConsumer) {
    this.topic = position.topic
    this.partition = position.partition
    this.tracker = new OffsetTracker(position.offset)
    this.highWatermark = position.offset
    this.#consumer = consumer
  }

  holds(why: Hold): boolean {
    return this.#holds.has(why)
  }

  hold(why: Hold): void {
    if (this.#holds.size === 0) this.#consumer.pause(this)
    this.#holds.add(why)
  }

  /** Ends one hold; fetching goes on when it was the last. */
  unhold(why: Hold): void {
    if (this.#holds.delete(why) && this.#holds.size === 0 && !this.revoked) this.#consumer.resume(this)
  }

  opened(record: LogRecord): void {
    this.tracker.add(record.offset)
    this.#openBytes += sizeOf(record)
    if (this.tracker.open >= limits.records || this.#openBytes >= limits.bytes || this.tracker.span >= limits.span)
      this.hold('backlog')
  }

  done(record: LogRecord): void {
    if (this.revoked) return
    this.tracker.done(record.offset)
    this.#openBytes -= sizeOf(record)
    if (!this.#holds.has('backlog')) return
    const half =
      this.tracker.open <= limits.records / 2 &&
      this.#openBytes <= limits.bytes / 2 &&
      this.tracker.span <= limits.span / 2
    if (half) this.unhold('backlog')
  }
}

function sizeOf(record: LogRecord): number {
  return (record.key?.length ?? 0) + (record.value?.length ?? 0)
}
