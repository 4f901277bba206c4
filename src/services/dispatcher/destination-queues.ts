import { Fifo } from '../../core/collections/fifo.ts'
import { CircuitBreaker } from '../../core/flow/circuit-breaker.ts'
import type { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import { DestinationQueue } from '../../core/flow/destination-queue.ts'
import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import { AttemptSample } from '../../core/flow/sampled-attempt-duration.ts'
import { SlowDown } from '../../core/flow/slow-down-after-429.ts'
import { slowIfAdmittedBefore } from '../../core/flow/slow-queue-threshold.ts'
import { ResultCounts } from '../../core/live-status/result-counts-of-this-process.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { Delivery, DestinationState } from './delivery.ts'
import type { Permission } from './destination-limits.ts'

/**
 * To save CPU time, `unblock` tries only this number of queues, and one more for each ended
 * request.
 */
const { minQueuesToTry } = flowLimits.dispatch

const { heldUpBelow } = flowLimits.spillover

/** The limits that each destination has of its own (`DestinationLimits`). */
interface OwnLimits {
  permission(target: DestinationState): Permission
  /** Calls `wake` for the destination after `forMs` milliseconds. */
  wakeAfter(target: DestinationState, forMs: number): void
}

/** The queues of all destinations, served in turn, so that a long one does not delay the others. */
export class DestinationQueues {
  readonly #limiter: Pick<ConcurrencyLimiter, 'hasFairShare' | 'inFlight'>
  readonly #queues = new Map<string, DestinationState>()
  readonly #turns = new Fifo<DestinationState>()
  /**
   * Queues that wait for a permit, the longest blocked first. `unblock` skips those that are no
   * longer blocked.
   */
  readonly #blocked = new Fifo<DestinationState>()
  /** Queues with a delivery that has waited too long (see `findSlow`). */
  readonly #slow = new Set<DestinationState>()
  readonly #ownLimits: OwnLimits
  readonly #results: ResultCounts
  /** Queues that wait for a limit of their destination. They are also blocked (`isBlocked`). */
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

  /** Takes the next delivery of a queue that may use one more permit. */
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
   * Notes that a taken delivery has ended, or will be queued again later. This can block the queue,
   * so the caller must call `unblock` next.
   */
  ended(delivery: Delivery): void {
    const { target } = delivery
    target.queue.ended(delivery.orderKey)
    // A queue without waiting deliveries is not slow.
    if (target.queue.queued === 0) this.#slow.delete(target)
    // Queues that wait for a permit come first. Otherwise this queue would get each free permit.
    if (this.#blocked.length > 0 && !target.isInTurn) target.isBlocked = true
    else this.#offerTurn(target)
  }

  /** Notes that a taken delivery is left to the next owner of its partition. */
  leftToNextOwner(delivery: Delivery): void {
    this.ended(delivery)
    this.unblock([delivery.target])
  }

  /**
   * Requeues a taken delivery and blocks its queue, because no webhook has a free permit, or
   * because too many requests are connecting.
   */
  block(delivery: Delivery): void {
    const { target } = delivery
    target.queue.requeue(delivery, delivery.orderKey)
    this.#block(target)
  }

  /** Requeues a taken delivery as the next one of its queue. Does not block the queue. */
  restore(delivery: Delivery): void {
    const { target } = delivery
    target.queue.requeue(delivery, delivery.orderKey)
    this.#offerTurn(target)
  }

  /**
   * Unblocks queues, the longest blocked first. The queues in `ended` come last, because they may
   * already use their fair share of the permits.
   */
  unblock(ended: readonly (DestinationState | undefined)[]): void {
    let remaining = minQueuesToTry + ended.length
    while (remaining > 0) {
      const target = this.#blocked.shift()
      if (target === undefined) break
      target.isAmongBlocked = false
      if (this.#unblockOne(target)) remaining--
    }
    for (const target of ended) if (target !== undefined) this.#unblockOne(target)
  }

  /** Unblocks a queue that waits for a limit of its destination. */
  wake(target: DestinationState): void {
    this.#waiting.delete(target)
    this.#unblockOne(target)
  }

  wakeAll(): void {
    for (const target of this.#waiting) this.wake(target)
  }

  /**
   * Marks a queue as slow if one of its deliveries has waited too long. Checks the next ready
   * delivery of the queue, and for each order key the first delivery that waits for another one of
   * this key. Both parameters are in monotonic milliseconds.
   */
  findSlow(now: number, cpuSaturatedUntil: number): void {
    for (const target of this.#queues.values()) {
      if (target.queue.queued === 0 || this.#slow.has(target)) continue
      // A queue in `#turns` (`isInTurn`) also waits for a permit of the process.
      const lacksPermits = (target.waitsForProcess || target.isInTurn) && target.attempts.isQuick(now)
      const threshold = slowIfAdmittedBefore(now, cpuSaturatedUntil, lacksPermits)
      for (const { of } of target.queue.heads()) {
        if (of.admittedAt > threshold) continue
        this.#slow.add(target)
        break
      }
    }
  }

  /** Queues that `findSlow` found and that have not become empty. */
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
   * Removes and returns the deliveries that belong to a partition and that `isWanted` selects.
   * Stops when it has `max` deliveries, but never between two with the same order key, so it may
   * return more.
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
   * Whether the queue must wait because of a limit of its destination. If so, marks it as blocked
   * and waiting.
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

  /** Unblocks a queue if it is blocked. Returns whether `take` will now try the queue. */
  #unblockOne(target: DestinationState): boolean {
    if (!target.isBlocked) return false
    target.isBlocked = false
    return this.#offerTurn(target)
  }

  /** Adds an unblocked queue with a ready delivery to `#turns`. Returns whether it was added. */
  #offerTurn(target: DestinationState): boolean {
    if (target.queue.ready === 0 || target.isInTurn || target.isBlocked) return false
    target.isInTurn = true
    this.#turns.push(target)
    return true
  }
}

const unlimited: OwnLimits = { permission: () => ({ kind: 'start' }), wakeAfter: () => undefined }
