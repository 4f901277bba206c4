import { type Decision, mustBeAttempted } from '../../core/delivery/decide.ts'
import { deferByLimit, deferUntilTurn, type LimitReason, msToTurn } from '../../core/delivery/defer-by-limit.ts'
import type { RetryPolicy } from '../../core/delivery/retry-tier.ts'
import { DestinationRateLimit } from '../../core/flow/destination-rate-limit.ts'
import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { PartitionShare } from '../../core/flow/limit-share-by-partitions.ts'
import type { Clock } from '../../core/ports.ts'
import { type DurationMs, durationMs, type EpochMs } from '../../core/time.ts'
import type { Delivery, DestinationState } from './delivery.ts'
import {
  type DeliverPlan,
  type PlanDeps,
  type PlannedLimits,
  type PreparedWebhook,
  planOf,
} from './destination-delivery-plan.ts'

const { maxTimerMs, handoverMs, maxTurnMs, turnValidMs, minPerSecond } = flowLimits.share
const { maxWaitInMemory } = flowLimits.deferral
const { minUnanswered } = flowLimits.concurrency

/** Whether the destination's own limits permit an attempt now. */
export type Permission =
  | { readonly kind: 'start' }
  /** An attempt may start after `forMs` at the earliest. Deliveries stay in their queue. */
  | { readonly kind: 'wait'; readonly forMs: number }
  /** No attempt may start until a request has ended or the limits have changed. No timer is set. */
  | { readonly kind: 'wait_for_end' }
  | LimitReason

export interface LimitsDeps extends PlanDeps {
  readonly share: PartitionShare
  /**
   * Whether the consumer group of the events topic confirms that this process still owns its
   * partitions.
   */
  readonly holdsLease: () => boolean
  /** Called when a queue that waited for a limit should be checked again. */
  readonly wake: (target: DestinationState) => void
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'after'>
}

/**
 * Whether the destination has a limit. A changed limit takes effect with the next delivery, which
 * renews `plan`.
 */
export const hasLimit = ({ plan, slowDown }: DestinationState): boolean =>
  plan?.kind === 'deliver' && (plan.limits !== undefined || slowDown.isActive)

/**
 * Applies the limits of single destinations: `ratePerSecond` and `maxConcurrency`, and the pace and
 * pauses after 429 and Retry-After.
 */
export class DestinationLimits {
  readonly #deps: LimitsDeps

  constructor(deps: LimitsDeps) {
    this.#deps = deps
  }

  /** Whether the limits permit an attempt of `next`, by default the first delivery of the queue. */
  permission(target: DestinationState, next?: Delivery): Permission {
    const { plan, slowDown } = target
    // Return early, because this runs for each delivery, and few destinations have limits.
    if (plan?.kind === 'deliver' && !hasLimit(target)) return start
    const current = planOf(target, this.#deps)
    // Return `start`, so that the delivery leaves its queue. The caller then settles the delivery
    // without an attempt, for example because its destination is paused.
    if (current.kind !== 'deliver' || current.isPaused) return start
    const now = this.#deps.clock.monotonic()
    slowDown.setPart(this.#deps.share.rateAt(now), now)
    const slowed = this.#slowed(target, next, now)
    if (slowed.kind === 'defer_pause' || current.limits === undefined) return slowed
    return stricterOf(slowed, this.#limited(target, current, current.limits, now))
  }

  /**
   * Returns `undefined` if the limits permit an attempt, a decision if a limit defers the delivery,
   * and `wait` if the delivery must return to its queue.
   */
  deferral(delivery: Delivery, policy: RetryPolicy, now: EpochMs): Decision | 'wait' | undefined {
    const permission = this.permission(delivery.target, delivery)
    switch (permission.kind) {
      case 'start':
        return undefined
      case 'wait':
      case 'wait_for_end':
        return 'wait'
      case 'defer_without_part':
        return deferByLimit(permission, delivery.carried, policy, now)
      case 'defer_pause': {
        const forMs = this.#msToTurnAfterPause(permission.forMs, delivery, now)
        return deferByLimit({ kind: 'defer_pause', forMs }, delivery.carried, policy, now)
      }
    }
  }

  /**
   * The milliseconds until a delivery is due after a pause. With a rate or pace, the due times of
   * deliveries are spread, because a burst after the pause could cause the next pause.
   */
  #msToTurnAfterPause(pausedMs: number, { target, carried }: Delivery, now: EpochMs): number {
    const monotonic = this.#deps.clock.monotonic()
    // Without a rate or a pace, all deliveries are due when the pause ends. If a delivery is due
    // after the end of the pause anyway, `deferByLimit` keeps this later time.
    if (this.#rateOf(target, monotonic) === undefined || carried.notBefore - now >= pausedMs) return pausedMs
    const turn = this.#nextTurn(target, monotonic, pausedMs) ?? pausedMs
    // A retry must be due some seconds before its retry window ends, so that its attempt can begin.
    const latest = carried.attempt === 0 ? turn : carried.deadline - now - maxWaitInMemory
    return Math.max(pausedMs, Math.min(turn, latest))
  }

  /**
   * Returns a decision that moves a queued delivery to a retry topic until its *turn*, the
   * estimated time at which the limits permit its attempt. `undefined` without a limit or estimate.
   */
  spill({ target, carried }: Delivery, policy: RetryPolicy, now: EpochMs): Decision | undefined {
    if (!hasLimit(target)) return undefined
    const monotonic = this.#deps.clock.monotonic()
    const turn = msToTurn(carried, now)
    const isLate = turn === 0 && target.lastTurn - monotonic > turnValidMs
    const forMs = turn === undefined || isLate ? this.#nextTurn(target, monotonic) : turn
    return forMs === undefined ? undefined : deferUntilTurn(forMs, carried, policy, now)
  }

  /**
   * Estimates in how many ms the limits permit the attempt of the next delivery that leaves the
   * queue. The result is at most `maxTurnMs`, so that a raised limit takes effect within this time.
   * `undefined` if the rate is below `minPerSecond`.
   */
  #nextTurn(target: DestinationState, now: number, pausedMs = 0): DurationMs | undefined {
    // Without a rate, for example with only `maxConcurrency`, use the rate of recent deliveries.
    const perSecond = this.#rateOf(target, now) ?? target.slowDown.deliveredPerSecond(now)
    if (perSecond < minPerSecond) return undefined
    const latest = now + maxTurnMs
    target.lastTurn = Math.min(Math.max(target.lastTurn, now + pausedMs) + 1_000 / perSecond, latest)
    return durationMs(Math.ceil(target.lastTurn - now))
  }

  /**
   * The maximum attempts per second of this process: the smaller of its share of `ratePerSecond`
   * and the pace after a 429. `undefined` if the destination has neither.
   */
  #rateOf({ plan, slowDown }: DestinationState, now: number): number | undefined {
    const rate = plan?.kind === 'deliver' ? plan.limits?.ratePerSecond : undefined
    const own = rate === undefined ? undefined : rate * this.#deps.share.rateAt(now)
    const pace = slowDown.paceAt(now)
    if (own === undefined || pace === undefined) return own ?? pace
    return Math.min(own, pace)
  }

  /** Notes that an attempt has started. Call this only when `permission` has returned `start`. */
  started({ plan, slowDown, rate }: DestinationState): void {
    slowDown.started()
    if (plan?.kind === 'deliver' && plan.limits?.ratePerSecond !== undefined) rate?.started()
  }

  /** Sets a timer that calls `wake` after `forMs` ms, unless a timer that fires earlier is set. */
  wakeAfter(target: DestinationState, forMs: number): void {
    const { clock, wake } = this.#deps
    const at = clock.monotonic() + forMs
    if (target.wakesAt <= at) return
    target.wakesAt = at
    clock.after(durationMs(forMs), () => {
      if (target.wakesAt === at) target.wakesAt = Number.POSITIVE_INFINITY
      wake(target)
    })
  }

  #slowed(target: DestinationState, next: Delivery | undefined, now: number): Permission {
    const { slowDown } = target
    const pausedMs = slowDown.msPaused(now)
    if (pausedMs > 0 && this.#ignoresPause(target, next, now)) return start
    if (pausedMs > maxWaitInMemory) return { kind: 'defer_pause', forMs: pausedMs }
    return waitFor(slowDown.msToWait(now))
  }

  /**
   * Whether the next delivery gets an attempt despite the pause. A delivery whose retry window ended
   * before its first attempt must get one attempt (`mustBeAttempted`). If the endpoint seems to be
   * down, not only to limit its rate, a wait for the end of the pause would not help this attempt.
   */
  #ignoresPause({ slowDown, queue }: DestinationState, next: Delivery | undefined, now: number): boolean {
    const [head] = queue.heads()
    const delivery = next ?? head
    const isLate = delivery !== undefined && mustBeAttempted(delivery.carried, this.#deps.clock.now())
    return isLate && slowDown.paceAt(now) === undefined && !slowDown.hasRecentDeliveryOrPause(now)
  }

  /**
   * Returns the webhooks that are not at a limit; without `maxConcurrency`, all webhooks. Call this
   * only when `permission` has returned `start`: then no responsive webhook is at a limit.
   */
  belowLimit(webhooks: readonly PreparedWebhook[], limits: PlannedLimits | undefined): readonly PreparedWebhook[] {
    if (limits?.maxConcurrency === undefined) return webhooks
    const { permits } = this.#permitsOf(limits.maxConcurrency, limits.rotateBy, this.#deps.clock.monotonic())
    const responsive = withoutUnresponsive(webhooks, permits)
    return responsive.filter(each => !isAtLimit(each, responsive, permits))
  }

  #permitsOf(maxConcurrency: number, rotateBy: number, now: number): ReturnType<PartitionShare['permitsAt']> {
    const { share, delivery } = this.#deps
    // Requests of a partition's previous owner may run until their timeout. Until then, this
    // process may not use the permits of the partition.
    return share.permitsAt(now, maxConcurrency, rotateBy, delivery.timeout + handoverMs)
  }

  #limited(
    target: DestinationState,
    { preparedWebhooks }: DeliverPlan,
    limits: PlannedLimits,
    now: number,
  ): Permission {
    const { ratePerSecond, maxConcurrency, rotateBy } = limits
    const { share, holdsLease } = this.#deps
    if (!holdsLease()) return waitFor(maxTimerMs)
    if (share.hasNoPartitions) return deferWithoutPart
    if (maxConcurrency !== undefined) {
      const { permits, isPending } = this.#permitsOf(maxConcurrency, rotateBy, now)
      if (permits === 0) return isPending ? waitFor(handoverMs) : deferWithoutPart
      if (!mayStartWithoutUnresponsive(preparedWebhooks, permits)) return waitForEnd
    }
    if (ratePerSecond === undefined) return start
    target.rate ??= new DestinationRateLimit()
    return waitFor(target.rate.msToWait(share, ratePerSecond, now))
  }
}

/**
 * Whether the destination's own requests use up a limit of a webhook: `permits`, or the process's
 * limit for the webhook or its host. Requests of other destinations do not matter.
 */
function isAtLimit(
  { permits: { ofWebhook, ofHost } }: PreparedWebhook,
  preparedWebhooks: readonly PreparedWebhook[],
  permits: number,
): boolean {
  if (ofWebhook.inProgress >= permits || !ofWebhook.hasPermitAlone) return true
  const count = preparedWebhooks.filter(({ permits }) => permits.ofHost === ofHost).length
  // A host without requests of this destination never counts as at its limit. Otherwise, an attempt
  // could never start if the host has fewer than `count` permits in total.
  return ofHost.inProgress > 0 && !ofHost.hasPermitsAlone(count)
}

/**
 * Whether an attempt may start without the unresponsive webhooks: other webhooks respond, and none
 * of those is at its limit. A webhook that responds is never left out, even if it is slow: another
 * webhook's success would end the delivery, and the slow webhook would not get the event.
 */
function mayStartWithoutUnresponsive(preparedWebhooks: readonly PreparedWebhook[], permits: number): boolean {
  const responsive = withoutUnresponsive(preparedWebhooks, permits)
  return responsive.length > 0 && !responsive.some(each => isAtLimit(each, responsive, permits))
}

/**
 * Leaves out the webhooks that are at their limit and did not respond to their last n requests. n
 * is the number of requests in progress, at least `minUnanswered`.
 */
function withoutUnresponsive(
  preparedWebhooks: readonly PreparedWebhook[],
  permits: number,
): readonly PreparedWebhook[] {
  const isUnresponsive = ({ permits: { ofWebhook } }: PreparedWebhook): boolean =>
    ofWebhook.unanswered >= Math.max(ofWebhook.inProgress, minUnanswered)
  return preparedWebhooks.filter(each => !isAtLimit(each, preparedWebhooks, permits) || !isUnresponsive(each))
}

const start: Permission = { kind: 'start' }
const waitForEnd: Permission = { kind: 'wait_for_end' }
const deferWithoutPart: Permission = { kind: 'defer_without_part' }

/** The permission to start after `ms`, rounded up, because timers have whole milliseconds. */
const waitFor = (ms: number): Permission =>
  ms <= 0 ? start : { kind: 'wait', forMs: Math.ceil(Math.min(ms, maxTimerMs)) }

/**
 * Returns the stricter permission. `start` is less strict than each `wait`, a short `wait` is less
 * strict than a long one, and each `wait` is less strict than the other kinds.
 */
function stricterOf(one: Permission, other: Permission): Permission {
  if (other.kind === 'start') return one
  if (one.kind === 'wait' && other.kind === 'wait') return one.forMs > other.forMs ? one : other
  return one.kind === 'start' || one.kind === 'wait' ? other : one
}
