import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { Clock } from '../../core/ports.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createBoundedLoop, type Step } from './bounded-loop.ts'
import type { Delivery } from './delivery.ts'
import type { DestinationQueues } from './destination-queues.ts'

const { checkEvery, ownPart } = flowLimits.spillover
const { stallThresholdMs } = flowLimits.prefetch

interface Deps {
  readonly clock: Pick<Clock, 'after' | 'monotonic' | 'soon'>
  /** For how long the oldest record of this process has been in progress, in ms. */
  readonly oldestInProgressMs: () => number
  /**
   * End of the latest period in which the process lacked CPU, in monotonic ms; `-Infinity` if none.
   */
  readonly cpuSaturatedUntil: () => number
  readonly queues: Pick<DestinationQueues, 'findSlow' | 'slow' | 'drainMatching'>
  /** With `mayWaitLonger`, each further deferral of a delivery may lead to a longer wait. */
  readonly defer: (delivery: Delivery, mayWaitLonger: boolean) => void
  readonly hasOtherDestinations: () => boolean
  readonly isOpen: () => boolean
}

/**
 * Moves deliveries to a retry topic when the process is stalled and a partition reaches its
 * prefetch limits:
 * - If the partition has records for several destinations: all queued deliveries of slow
 *   destinations.
 * - If all its records are for one slow destination, and other destinations are configured: up to a
 *   quarter of the records, so that the process can read records for the other destinations.
 */
export class SpilloverController {
  readonly #deps: Deps
  /** Partitions at their prefetch limits, each with a timer for the next check. */
  readonly #watched = new Set<PartitionProcessor>()
  /**
   * Partitions from which deliveries are being moved. The value is the number of deliveries that
   * may still be moved if all records of the partition are for one destination.
   */
  readonly #spilling = new Map<PartitionProcessor, number>()
  readonly #spill: () => void
  #isStalled = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#spill = createBoundedLoop(deps.clock, remaining => this.#spillNext(remaining))
  }

  /** Whether the process was stalled when a partition at its prefetch limits was last checked. */
  get isStalled(): boolean {
    return this.#isStalled
  }

  check(processor: PartitionProcessor): void {
    if (!processor.isPausedFor('backlog')) return
    const { clock, queues, oldestInProgressMs, cpuSaturatedUntil } = this.#deps
    this.#isStalled = oldestInProgressMs() >= stallThresholdMs
    processor.recheckLimits()
    if (!processor.isPausedFor('backlog')) return
    const isWatched = this.#watched.has(processor)
    if (!isWatched) this.#watch(processor)
    if (!this.#isStalled) return
    if (!isWatched) queues.findSlow(clock.monotonic(), cpuSaturatedUntil())
    const remainingMoves = isWatched ? 0 : Math.ceil(processor.tracker.inProgressCount * ownPart)
    this.#spilling.set(processor, Math.max(remainingMoves, this.#spilling.get(processor) ?? 0))
    this.#spill()
  }

  /**
   * Checks the partition again later. As time passes, the process can become stalled without any
   * other event, and nothing else calls `check` then.
   */
  #watch(processor: PartitionProcessor): void {
    this.#watched.add(processor)
    this.#deps.clock.after(this.#isStalled ? checkEvery.stalled : checkEvery.normal, () => {
      this.#watched.delete(processor)
      if (this.#deps.isOpen() && !processor.revoked) this.check(processor)
    })
  }

  #spillNext(remaining: number): ReturnType<Step> {
    const [processor] = this.#spilling.keys()
    if (processor === undefined) return undefined
    const deferred = this.#spillFrom(processor, remaining)
    if (deferred < remaining) this.#spilling.delete(processor)
    return deferred
  }

  /**
   * Defers up to `max` deliveries of slow destinations, or a few more: deliveries with the same
   * order key are deferred together. Returns the number of deferred deliveries.
   */
  #spillFrom(processor: PartitionProcessor, max: number): number {
    const { queues, defer, hasOtherDestinations, isOpen } = this.#deps
    let deferred = 0
    if (!isOpen() || processor.revoked || !processor.mayStart) return deferred
    for (const target of queues.slow) {
      if (deferred >= max) break
      const hasOthers = processor.hasRecordForOthers(target.destination)
      if (!hasOthers && !hasOtherDestinations()) continue
      const remainingMoves = this.#spilling.get(processor) ?? 0
      const limit = hasOthers ? max - deferred : Math.min(max - deferred, remainingMoves)
      const out = queues.drainMatching(target, processor, limit)
      for (const delivery of out) defer(delivery, hasOthers)
      deferred += out.length
      if (!hasOthers) this.#spilling.set(processor, remainingMoves - out.length)
    }
    return deferred
  }
}
