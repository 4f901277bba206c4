import type { DeferralCause } from '../../core/delivery/classify-outcome.ts'
import { type Decision, defer } from '../../core/delivery/decide.ts'
import type { RetryPolicy } from '../../core/delivery/retry-tier.ts'
import type { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import type { Clock } from '../../core/ports.ts'
import type { AttemptRecords } from './attempts-topic.ts'
import type { Delivery } from './delivery.ts'
import type { DestinationLimits } from './destination-limits.ts'
import { isHeldUpByOthers, type PlanDeps, planOf } from './prepared-destination.ts'
import type { Settle } from './settle.ts'

interface Deps extends PlanDeps {
  /** The global schedule and window. */
  readonly policy: RetryPolicy
  readonly limits: DestinationLimits
  readonly limiter: ConcurrencyLimiter
  readonly settle: Pick<Settle, 'delivery'>
  readonly attemptRecords: AttemptRecords | undefined
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Settles deliveries that were removed from their queue without an attempt. The queue is not
 * notified when they have ended, because `take` did not return them.
 */
export class LeavingDeliveries {
  readonly #deps: Deps
  #inProgress = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Number of deliveries with an append in progress. */
  get inProgress(): number {
    return this.#inProgress
  }

  /** Defers a delivery that leaves memory because its destination is slow. */
  spill(delivery: Delivery): void {
    const { limits, clock } = this.#deps
    const plan = planOf(delivery.target, this.#deps)
    const policy = plan.kind === 'deliver' ? plan.policy : this.#deps.policy
    const decision = limits.spill(delivery, policy, clock.now())
    if (decision === undefined) this.#defer(delivery, 'lane_full')
    else this.#settle(delivery, decision)
  }

  /** Defers a delivery whose partition another process gets. */
  handOver(delivery: Delivery): void {
    this.#defer(delivery, 'handover')
  }

  #defer(delivery: Delivery, cause: DeferralCause): void {
    const { clock, policy, limiter } = this.#deps
    // Neither a hand-over nor a permit that other destinations hold is a fault of the endpoint, so
    // the delivery keeps its retry tier.
    const climbs = cause !== 'handover' && !isHeldUpByOthers(delivery.target, limiter)
    this.#settle(delivery, defer(delivery.carried, cause, policy, clock.now(), { climbs }))
  }

  #settle(delivery: Delivery, decision: Decision): void {
    const { attemptRecords, clock, settle } = this.#deps
    attemptRecords?.result(delivery, decision, clock.now())
    this.#inProgress++
    settle.delivery(delivery, decision, () => {
      this.#inProgress--
    })
  }
}
