import { type Decision, defer } from '../../core/delivery/decide.ts'
import type { DeferralCause } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import type { RetryPolicy } from '../../core/delivery/retry-tier.ts'
import type { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import type { Clock } from '../../core/ports.ts'
import type { AttemptRecords } from './attempt-records.ts'
import type { Delivery } from './delivery.ts'
import { isHeldUpByOthers, type PlanDeps, planOf } from './destination-delivery-plan.ts'
import type { DestinationLimits } from './destination-limits.ts'
import type { Settle } from './settle.ts'

interface Deps extends PlanDeps {
  /**
   * The schedule and retry window of the installation. If the destination of a delivery is
   * configured, `limits.spill` gets the destination's policy instead.
   */
  readonly policy: RetryPolicy
  readonly limits: DestinationLimits
  readonly limiter: ConcurrencyLimiter
  readonly settle: Pick<Settle, 'delivery'>
  readonly attemptRecords: AttemptRecords | undefined
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Settles deliveries that leave their destination queue without an attempt, because the destination
 * is too slow or the partition is revoked.
 */
export class UnattemptedDeliveries {
  readonly #deps: Deps
  #inProgress = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Number of unattempted deliveries whose append to a retry topic is in progress. */
  get inProgress(): number {
    return this.#inProgress
  }

  /**
   * Defers a delivery of a slow destination. With `mayWaitLonger`, it may wait longer than after
   * its last deferral.
   */
  spill(delivery: Delivery, mayWaitLonger: boolean): void {
    const { limits, clock } = this.#deps
    const plan = planOf(delivery.target, this.#deps)
    const policy = plan.kind === 'deliver' ? plan.policy : this.#deps.policy
    const decision = limits.spill(delivery, policy, clock.now())
    if (decision === undefined) this.#defer(delivery, 'lane_full', mayWaitLonger)
    else this.#settle(delivery, decision)
  }

  /** Defers a delivery whose partition is being revoked. */
  handOver(delivery: Delivery): void {
    this.#defer(delivery, 'handover', false)
  }

  #defer(delivery: Delivery, cause: DeferralCause, mayWaitLonger: boolean): void {
    const { clock, policy, limiter } = this.#deps
    // A delivery that waits only because other destinations hold the permits does not move to a
    // retry topic with a longer wait.
    const isDeferralCounted = mayWaitLonger && !isHeldUpByOthers(delivery.target, limiter)
    this.#settle(delivery, defer(delivery.carried, cause, policy, clock.now(), { isDeferralCounted }))
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
