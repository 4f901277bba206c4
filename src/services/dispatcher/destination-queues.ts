import { Fifo } from '../../core/collections/fifo.ts'
import { CircuitBreaker } from '../../core/flow/circuit-breaker.ts'
import type { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import { DestinationQueue } from '../../core/flow/destination-queue.ts'
import { flowLimits } from '../../core/flow/limits.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { Delivery, DestinationState } from './delivery.ts'

/**
 * Blocked queues that are asked after an end, besides one for each end: with 1,000 destinations most
 * of them are blocked, and to ask all of them for each few permits costs more than the calls. A queue
 * whose own call has ended is asked too, after them: only its own share may have a free permit.
 */
const { minAsked } = flowLimits.dispatch

/** The queues of all destinations, taken in turn: a long queue in one does not keep the others waiting. */
export class DestinationQueues {
  readonly #limiter: Pick<ConcurrencyLimiter, 'hasFairShare'>
  readonly #queues = new Map<string, DestinationState>()
  readonly #turns = new Fifo<DestinationState>()
  /** Each at most once; one that was asked out of turn stays, and is passed over unless it is blocked again. */
  readonly #blocked = new Fifo<DestinationState>()
  /** Their oldest delivery waited too long, and they have not been empty since. */
  readonly #slow = new Set<DestinationState>()

  constructor(limiter: Pick<ConcurrencyLimiter, 'hasFairShare'>) {
    this.#limiter = limiter
  }

  of(destination: string): DestinationState {
    let target = this.#queues.get(destination)
    if (target === undefined) {
      target = {
        destination,
        queue: new DestinationQueue<Delivery>(),
        breaker: new CircuitBreaker(),
        calls: 0,
        route: undefined,
        delivered: undefined,
        isInTurn: false,
        isBlocked: false,
        isAmongBlocked: false,
      }
      this.#queues.set(destination, target)
    }
    return target
  }

  push(delivery: Delivery): void {
    const { target } = delivery
    target.queue.push(delivery, delivery.orderKey)
    this.#offerTurn(target)
  }

  /** The next delivery in turn of a queue with a fair share of the permits; undefined when there is none. */
  take(): Delivery | undefined {
    for (let target = this.#turns.shift(); target !== undefined; target = this.#turns.shift()) {
      target.isInTurn = false
      if (!this.#limiter.hasFairShare(target)) {
        this.#block(target)
        continue
      }
      const delivery = target.queue.take()
      if (delivery === undefined) continue
      if (target.queue.queued === 0) this.#slow.delete(target)
      this.#offerTurn(target)
      return delivery
    }
    return undefined
  }

  /** A taken delivery has ended or is deferred. The caller must call `unblock` next. */
  ended(delivery: Delivery): void {
    const { target } = delivery
    target.queue.ended(delivery.orderKey)
    // Nothing waits, and what comes next finds a permit: its queue may have been emptied into a retry topic.
    if (target.queue.queued === 0) this.#slow.delete(target)
    // The next one of its key is asked for after those that wait for a permit: else this queue would keep the permit forever.
    if (this.#blocked.length > 0 && !target.isInTurn) target.isBlocked = true
    else this.#offerTurn(target)
  }

  /**
   * A taken delivery belongs to the new owner of its partition. No attempt started, so none ends:
   * queues that wait for a permit are asked now.
   */
  dropped(delivery: Delivery): void {
    this.ended(delivery)
    this.unblock([delivery.target])
  }

  /** Requeues a taken delivery: none of the destination's webhooks has a free permit. */
  block(delivery: Delivery): void {
    const { target } = delivery
    target.queue.requeue(delivery, delivery.orderKey)
    this.#block(target)
  }

  /** Requeues a taken delivery that may not start: it is the next one of its queue again. */
  restore(delivery: Delivery): void {
    const { target } = delivery
    target.queue.requeue(delivery, delivery.orderKey)
    this.#offerTurn(target)
  }

  /**
   * Calls or deliveries of these queues have ended, and permits are free. Asks some of the blocked
   * queues, the longest blocked first, then these.
   */
  unblock(ended: readonly DestinationState[]): void {
    for (let remaining = minAsked + ended.length; remaining > 0; remaining--) {
      const target = this.#blocked.shift()
      if (target === undefined) break
      target.isAmongBlocked = false
      this.#ask(target)
    }
    for (const target of ended) this.#ask(target)
  }

  /** Marks the queues as slow whose oldest delivery was admitted before `since`, in monotonic milliseconds. */
  findSlow(since: number): void {
    for (const target of this.#queues.values()) {
      const oldest = target.queue.oldest
      if (oldest !== undefined && oldest.of.admittedAt <= since) this.#slow.add(target)
    }
  }

  /** Queues that `findSlow` found and that were not empty since. */
  get slow(): Iterable<DestinationState> {
    return this.#slow
  }

  /** The queues of all destinations that had a delivery. */
  get all(): Iterable<DestinationState> {
    return this.#queues.values()
  }

  /** Removes queued deliveries of one partition, in order: about `max`, because a key is removed whole. */
  drainMatching(
    target: DestinationState,
    processor: PartitionProcessor,
    max: number,
    isWanted: (delivery: Delivery) => boolean,
  ): readonly Delivery[] {
    return target.queue.drainMatching(delivery => delivery.of.processor === processor && isWanted(delivery), max)
  }

  #block(target: DestinationState): void {
    target.isBlocked = true
    if (target.isAmongBlocked) return
    target.isAmongBlocked = true
    this.#blocked.push(target)
  }

  #ask(target: DestinationState): void {
    if (!target.isBlocked) return
    target.isBlocked = false
    this.#offerTurn(target)
  }

  #offerTurn(target: DestinationState): void {
    if (target.queue.ready === 0 || target.isInTurn || target.isBlocked) return
    target.isInTurn = true
    this.#turns.push(target)
  }
}
