import { Fifo } from '../../core/collections/fifo.ts'
import { CircuitBreaker } from '../../core/flow/circuit-breaker.ts'
import type { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import { DestinationQueue } from '../../core/flow/destination-queue.ts'
import { flowLimits } from '../../core/flow/limits.ts'
import { AttemptSample } from '../../core/flow/sampled-attempt-duration.ts'
import { SlowDown } from '../../core/flow/slow-down-after-429.ts'
import { slowQueueSince } from '../../core/flow/slow-queue-threshold.ts'
import { ResultCounts } from '../../core/live-status/result-counts.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { Delivery, DestinationState } from './delivery.ts'
import type { Permission } from './destination-limits.ts'

/**
 * When requests or deliveries end, queues that wait for a permit are tried again: one queue for
 * each ended request or delivery, and this number of further queues. With 1,000 destinations, most
 * queues wait for a permit, so to try all of them would cost more CPU time than the requests.
 */
const { minAsked } = flowLimits.dispatch

const { heldUpBelow } = flowLimits.spillover

/** The limits that each destination has of its own (`DestinationLimits`). */
interface OwnLimits {
  permission(target: DestinationState): Permission
  /** Calls `wake` for the destination after `forMs` milliseconds. */
  wakeAfter(target: DestinationState, forMs: number): void
}

/**
 * The queues of all destinations. They are served in turn, so that a long queue does not delay the
 * others.
 */
export class DestinationQueues {
  readonly #limiter: Pick<ConcurrencyLimiter, 'hasFairShare' | 'inFlight'>
  readonly #queues = new Map<string, DestinationState>()
  readonly #turns = new Fifo<DestinationState>()
  /**
   * The queues that wait for a permit, in the order in which they are tried again. Each is in the
   * list at most once. A queue that is unblocked earlier stays in the list until it is the first
   * one. Then it is skipped, unless it is blocked again.
   */
  readonly #blocked = new Fifo<DestinationState>()
  /** The queues that `slow` returns. */
  readonly #slow = new Set<DestinationState>()
  readonly #ownLimits: OwnLimits
  readonly #results: ResultCounts
  /**
   * Queues that wait until a limit of their destination permits an attempt. Each of them is also
   * marked as blocked (`isBlocked`).
   */
  readonly #waiting = new Set<DestinationState>()

  constructor(
    limiter: Pick<ConcurrencyLimiter, 'hasFairShare' | 'inFlight'>,
    ownLimits: OwnLimits = unlimited,
    results = new ResultCounts(),
  ) {
    this.#limiter = limiter
    this.#ownLimits = ownLimits
    this.#results = results
  }

  of(destination: string): DestinationState {
    let target = this.#queues.get(destination)
    if (target === undefined) {
      target = {
        destination,
        queue: new DestinationQueue<Delivery>(),
        breaker: new CircuitBreaker(),
        slowDown: new SlowDown(),
        attempts: new AttemptSample(),
        waitsForProcess: false,
        rate: undefined,
        calls: 0,
        turns: 0,
        plan: undefined,
        results: this.#results.of(destination),
        delivered: undefined,
        isInTurn: false,
        isBlocked: false,
        wakesAt: Number.POSITIVE_INFINITY,
        lastTurn: Number.NEGATIVE_INFINITY,
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

  /**
   * Takes the next delivery of a queue that may use one more permit. Returns `undefined` when there
   * is none.
   */
  take(): Delivery | undefined {
    for (let target = this.#turns.shift(); target !== undefined; target = this.#turns.shift()) {
      target.isInTurn = false
      if (!this.#limiter.hasFairShare(target)) {
        target.waitsForProcess = target.calls < heldUpBelow * this.#limiter.inFlight
        this.#block(target)
        continue
      }
      target.waitsForProcess = false
      if (this.#mustWait(target)) continue
      const delivery = target.queue.take()
      if (delivery === undefined) continue
      if (target.queue.queued === 0) this.#slow.delete(target)
      this.#offerTurn(target)
      return delivery
    }
    return undefined
  }

  /**
   * Notes that a delivery that `take` returned has ended, or will be added to the queue again
   * later. The caller must call `unblock` next.
   */
  ended(delivery: Delivery): void {
    const { target } = delivery
    target.queue.ended(delivery.orderKey)
    // A queue without waiting deliveries is not slow, because its next delivery waits behind no
    // other. This is also true when spillover has moved the waiting deliveries to a retry topic.
    if (target.queue.queued === 0) this.#slow.delete(target)
    // Queues that wait for a permit are tried before this queue. Otherwise this queue would get the
    // free permit every time.
    if (this.#blocked.length > 0 && !target.isInTurn) target.isBlocked = true
    else this.#offerTurn(target)
  }

  /**
   * Called when a taken delivery gets no attempt, because it is left to the next owner of its
   * partition. Normally `unblock` is called when an attempt ends. Here no attempt ends, so this
   * method calls `unblock`.
   */
  dropped(delivery: Delivery): void {
    this.ended(delivery)
    this.unblock([delivery.target])
  }

  /** Requeues a taken delivery, because none of the destination's webhooks has a free permit. */
  block(delivery: Delivery): void {
    const { target } = delivery
    target.queue.requeue(delivery, delivery.orderKey)
    this.#block(target)
  }

  /** Requeues a taken delivery that may not start. It becomes the next one of its queue again. */
  restore(delivery: Delivery): void {
    const { target } = delivery
    target.queue.requeue(delivery, delivery.orderKey)
    this.#offerTurn(target)
  }

  /**
   * Called when requests or deliveries of the `ended` queues have ended, so permits are free. It
   * unblocks `minAsked` queues, and one more for each `ended` queue, the longest blocked first. A
   * queue without a ready delivery, for example after spillover, is skipped and not counted. The
   * `ended` queues are unblocked last, because they may already use their full fair share of the
   * permits.
   */
  unblock(ended: readonly DestinationState[]): void {
    let remaining = minAsked + ended.length
    while (remaining > 0) {
      const target = this.#blocked.shift()
      if (target === undefined) break
      target.isAmongBlocked = false
      if (this.#unblockOne(target)) remaining--
    }
    for (const target of ended) this.#unblockOne(target)
  }

  /** Unblocks a queue that waits for a limit of its destination. */
  wake(target: DestinationState): void {
    this.#waiting.delete(target)
    this.#unblockOne(target)
  }

  /** Unblocks all queues that wait for a limit of their destination. */
  wakeAll(): void {
    for (const target of this.#waiting) this.wake(target)
  }

  /**
   * Marks each queue whose oldest delivery has waited too long (`slowQueueSince`) as slow. `now`
   * and `cpuSaturatedUntil` (when the process last lacked CPU) are monotonic milliseconds.
   */
  findSlow(now: number, cpuSaturatedUntil: number): void {
    for (const target of this.#queues.values()) {
      const oldest = target.queue.oldest
      if (oldest === undefined) continue
      // A queue is also held up while it is in `#turns`: the process then has no free permit.
      const isHeldUp = (target.waitsForProcess || target.isInTurn) && target.attempts.isQuick(now)
      if (oldest.of.admittedAt <= slowQueueSince(now, cpuSaturatedUntil, isHeldUp)) this.#slow.add(target)
    }
  }

  /**
   * The slow queues: their oldest delivery had waited too long when `findSlow` was called. `take`
   * and `ended` remove a queue when it is empty.
   */
  get slow(): Iterable<DestinationState> {
    return this.#slow
  }

  /** The state of a destination; `undefined` before its first delivery. */
  find(destination: string): DestinationState | undefined {
    return this.#queues.get(destination)
  }

  /** The states of all destinations that have had a delivery. */
  get all(): Iterable<DestinationState> {
    return this.#queues.values()
  }

  /**
   * Removes and returns the wanted deliveries (by default all) of one destination and partition, in
   * order. It stops after about `max` deliveries. It may remove more, because all wanted
   * deliveries of a key are removed together.
   */
  drainMatching(
    target: DestinationState,
    processor: PartitionProcessor,
    max: number,
    isWanted: (delivery: Delivery) => boolean = () => true,
  ): readonly Delivery[] {
    return target.queue.drainMatching(delivery => delivery.of.processor === processor && isWanted(delivery), max)
  }

  /**
   * Whether the queue must wait now because of a limit of its destination. If so, marks it as
   * blocked and waiting.
   */
  #mustWait(target: DestinationState): boolean {
    const permission = this.#ownLimits.permission(target)
    if (permission.kind !== 'wait' && permission.kind !== 'wait_for_end') return false
    target.isBlocked = true
    this.#waiting.add(target)
    if (permission.kind === 'wait') this.#ownLimits.wakeAfter(target, permission.forMs)
    return true
  }

  #block(target: DestinationState): void {
    target.isBlocked = true
    if (target.isAmongBlocked) return
    target.isAmongBlocked = true
    this.#blocked.push(target)
  }

  /** Unblocks a blocked queue. Returns whether `take` will try the queue. */
  #unblockOne(target: DestinationState): boolean {
    if (!target.isBlocked) return false
    target.isBlocked = false
    return this.#offerTurn(target)
  }

  /** Adds a queue to `#turns` if it has a ready delivery. Returns whether it was added. */
  #offerTurn(target: DestinationState): boolean {
    if (target.queue.ready === 0 || target.isInTurn || target.isBlocked) return false
    target.isInTurn = true
    this.#turns.push(target)
    return true
  }
}

const unlimited: OwnLimits = { permission: () => ({ kind: 'start' }), wakeAfter: () => undefined }
