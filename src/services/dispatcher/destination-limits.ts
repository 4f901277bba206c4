import { type Decision, mustBeAttempted } from '../../core/delivery/decide.ts'
import { deferByLimit, deferUntilTurn, type LimitReason, msToTurn } from '../../core/delivery/defer-by-limit.ts'
import type { RetryPolicy } from '../../core/delivery/retry-tier.ts'
import { DestinationRateLimit } from '../../core/flow/destination-rate-limit.ts'
import type { PartitionShare } from '../../core/flow/limit-share-by-partitions.ts'
import { flowLimits } from '../../core/flow/limits.ts'
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

/** Whether the destination's own limits permit an attempt to start now. */
export type Permission =
  | { readonly kind: 'start' }
  /**
   * The destination's limits permit an attempt after `forMs` milliseconds at the earliest. Until
   * then its deliveries stay in their queue.
   */
  | { readonly kind: 'wait'; readonly forMs: number }
  /**
   * The destination's limits permit no attempt until one of its requests has ended, or until the
   * limits have changed. It is not known when this will happen, so no timer is set.
   */
  | { readonly kind: 'wait_for_end' }
  | LimitReason

export interface LimitsDeps extends PlanDeps {
  readonly share: PartitionShare
  /** Whether the group of the events topic confirms that this process owns its partitions. */
  readonly holdsLease: () => boolean
  /** Called when a queue that waited for a limit of its destination should be checked again. */
  readonly wake: (target: DestinationState) => void
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'after'>
}

/**
 * Whether the destination has a limit of its own, in addition to the limits of the process. Its
 * deliveries may then wait for a long time. The answer comes from the plan of the last delivery: a
 * limit that was added or removed after that delivery takes effect with the next delivery.
 */
export const hasLimit = ({ plan, slowDown }: DestinationState): boolean =>
  plan?.kind === 'deliver' && (plan.limits !== undefined || slowDown.isActive)

/**
 * Applies the limits of single destinations: `ratePerSecond` and `maxConcurrency` of the
 * destination's policy, and the pace and pauses that the destination's endpoint has caused with 429
 * and Retry-After.
 */
export class DestinationLimits {
  readonly #deps: LimitsDeps

  constructor(deps: LimitsDeps) {
    this.#deps = deps
  }

  /**
   * Whether the limits of the destination permit an attempt of the delivery `next` now. Without
   * `next`, the answer is for the first delivery of the queue.
   */
  permission(target: DestinationState, next?: Delivery): Permission {
    const { plan, slowDown } = target
    // Return early for destinations without limits. This method runs for each delivery, and few
    // destinations have limits.
    if (plan?.kind === 'deliver' && !hasLimit(target)) return start
    const current = planOf(target, this.#deps)
    // A delivery that gets no attempt, for example because its destination is paused, need not wait
    // for a limit. It may leave its queue now.
    if (current.kind !== 'deliver' || current.isPaused) return start
    const now = this.#deps.clock.monotonic()
    slowDown.setPart(this.#deps.share.rateAt(now), now)
    const slowed = this.#slowed(target, next, now)
    if (slowed.kind === 'defer_pause' || current.limits === undefined) return slowed
    return stricterOf(slowed, this.#limited(target, current, current.limits, now))
  }

  /**
   * Returns a decision that defers the delivery when a limit of its destination requires this.
   * Returns `wait` when the delivery must return to its queue, for example because a reload added a
   * limit after the delivery was taken. Otherwise returns `undefined`.
   */
  deferral(delivery: Delivery, policy: RetryPolicy, now: EpochMs): Decision | 'wait' | undefined {
    const permission = this.permission(delivery.target, delivery)
    switch (permission.kind) {
      case 'start':
        return undefined
      case 'wait':
      case 'wait_for_end':
        return 'wait'
      case 'defer_to_others':
        return deferByLimit(permission, delivery.carried, policy, now)
      case 'defer_pause': {
        const forMs = this.#msToTurnAfterPause(permission.forMs, delivery, now)
        return deferByLimit({ kind: 'defer_pause', forMs }, delivery.carried, policy, now)
      }
    }
  }

  /**
   * Returns in how many milliseconds a delivery is due, if its destination pauses for `pausedMs`.
   * With a rate or a pace, each delivery of a backlog is due at a different time after the pause.
   * If all were due when the pause ends, the first attempts could cause the next pause, and the
   * other deliveries would be deferred again.
   */
  #msToTurnAfterPause(pausedMs: number, { target, carried }: Delivery, now: EpochMs): number {
    const monotonic = this.#deps.clock.monotonic()
    // Without a rate or a pace, all deliveries are due when the pause ends. A delivery that is due
    // after the pause keeps its time.
    if (this.#rateOf(target, monotonic) === undefined || carried.notBefore - now >= pausedMs) return pausedMs
    const turn = this.#nextTurn(target, monotonic, pausedMs) ?? pausedMs
    // A retry must be due some seconds before its retry window ends, so that its attempt can begin
    // within the window.
    const latest = carried.attempt === 0 ? turn : carried.deadline - now - maxWaitInMemory
    return Math.max(pausedMs, Math.min(turn, latest))
  }

  /**
   * Returns a decision that moves a queued delivery from memory to a retry topic. The delivery
   * waits there until its *turn*: the estimated time at which the destination's limits permit its
   * attempt. An earlier deferral may have given the delivery a turn (`msToTurn`).
   * - If this turn is in the future, the delivery keeps it.
   * - If this turn passed less than a minute ago, the delivery also keeps it, and is due soon. But
   *   if the turns of other deliveries already fill the next minute, it gets a new turn after
   *   theirs.
   * - Any other delivery gets a new turn.
   *
   * Returns `undefined` when no limit of the destination determines the turn.
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
   * Estimates the turn of the next spilled delivery, in ms from now: after a pause that ends in
   * `pausedMs`, and after the turns of the deliveries that were spilled before it. Deliveries that
   * are still in memory are ignored, because most of them may be spilled too. The result is at most
   * five minutes, so that no delivery waits much longer than necessary after an operator raises the
   * limit. Returns `undefined` if fewer than `minPerSecond` attempts per second are possible.
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
   * The attempts per second that `ratePerSecond` and the pace of the destination permit to this
   * process; `undefined` if it has neither of them.
   */
  #rateOf({ plan, slowDown }: DestinationState, now: number): number | undefined {
    const rate = plan?.kind === 'deliver' ? plan.limits?.ratePerSecond : undefined
    const own = rate === undefined ? undefined : rate * this.#deps.share.rateAt(now)
    const pace = slowDown.paceAt(now)
    if (own === undefined || pace === undefined) return own ?? pace
    return Math.min(own, pace)
  }

  /** Notes that an attempt starts. Call it only when `permission` has returned `start`. */
  started({ plan, slowDown, rate }: DestinationState): void {
    slowDown.started()
    if (plan?.kind === 'deliver' && plan.limits?.ratePerSecond !== undefined) rate?.started()
  }

  /**
   * Sets a timer that calls `wake` after `forMs` milliseconds. If the queue already has a timer
   * that fires earlier, nothing changes.
   */
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
   * Whether an attempt of the next delivery starts despite the pause. Two conditions must be true:
   * - The retry window of the delivery ended before its first attempt. The delivery cannot wait
   *   longer, but must get one attempt.
   * - The endpoint seems to be down: the destination has no pace, and `SlowDown.mayWork` is false.
   *
   * An open circuit breaker has the same exception. So an endpoint that always responds with 503
   * and Retry-After is treated like one whose circuit breaker is open.
   */
  #ignoresPause({ slowDown, queue }: DestinationState, next: Delivery | undefined, now: number): boolean {
    const delivery = next ?? queue.oldest
    const isLate = delivery !== undefined && mustBeAttempted(delivery.carried, this.#deps.clock.now())
    return isLate && slowDown.paceAt(now) === undefined && !slowDown.mayWork(now)
  }

  /**
   * Returns all webhooks if the destination has no `maxConcurrency`. Otherwise returns the webhooks
   * that are not at their limit (see `isAtLimit`). Call this method only when `permission` has
   * returned `start`. Then every webhook at its limit is one that does not respond (see
   * `mayLeaveOut`), so no responsive webhook is left out.
   */
  belowLimit(webhooks: readonly PreparedWebhook[], limits: PlannedLimits | undefined): readonly PreparedWebhook[] {
    if (limits?.maxConcurrency === undefined) return webhooks
    const { permits } = this.#permitsOf(limits.maxConcurrency, limits.rotateBy, this.#deps.clock.monotonic())
    const responsive = withoutUnresponsive(webhooks, permits)
    return responsive.filter(each => !isAtLimit(each, responsive, permits))
  }

  #permitsOf(maxConcurrency: number, rotateBy: number, now: number): ReturnType<PartitionShare['permitsAt']> {
    const { share, delivery } = this.#deps
    // After this process got a partition, requests of the previous owner may be in progress until
    // they time out. So this process may use the partition's part of `maxConcurrency` only after
    // these requests have timed out.
    return share.permitsAt(now, maxConcurrency, rotateBy, delivery.timeout + handoverMs)
  }

  #limited(target: DestinationState, { callees }: DeliverPlan, limits: PlannedLimits, now: number): Permission {
    const { ratePerSecond, maxConcurrency, rotateBy } = limits
    const { share, holdsLease } = this.#deps
    if (!holdsLease()) return waitFor(maxTimerMs)
    if (share.isNone) return deferToOthers
    if (maxConcurrency !== undefined) {
      const { permits, isPending } = this.#permitsOf(maxConcurrency, rotateBy, now)
      if (permits === 0) return isPending ? waitFor(handoverMs) : deferToOthers
      if (!mayLeaveOut(callees, permits)) return waitForEnd
    }
    if (ratePerSecond === undefined) return start
    target.rate ??= new DestinationRateLimit()
    return waitFor(target.rate.msToWait(share, ratePerSecond, now))
  }
}

/**
 * Whether a webhook can get no further request, because the destination's own requests use up one
 * of these limits:
 * - `permits`, the maximum number of requests to the webhook.
 * - The limits of the process for the webhook (`delivery.perWebhook`) and for its host
 *   (`delivery.perHost`). An attempt sends a request to each of the `callees`, so it needs one
 *   permit of the host for each of them on this host.
 */
function isAtLimit(
  { permits: { ofWebhook, ofHost } }: PreparedWebhook,
  callees: readonly PreparedWebhook[],
  permits: number,
): boolean {
  if (ofWebhook.inProgress >= permits || !ofWebhook.hasPermitAlone) return true
  const count = callees.filter(({ permits }) => permits.ofHost === ofHost).length
  // The host may have fewer permits than the destination has webhooks on it. An attempt then never
  // gets a permit for each webhook. Therefore an attempt may also start when no request to the host
  // is in progress.
  return ofHost.inProgress > 0 && !ofHost.hasPermitsAlone(count)
}

/**
 * Whether an attempt may start: at least one webhook is responsive, and no responsive one is at its
 * limit. Unresponsive webhooks at their limit are left out. A slow webhook that responds is not
 * left out, and deliveries wait for it. If it were left out, a success of another webhook would end
 * the delivery, and the slow webhook would never get the message.
 */
function mayLeaveOut(callees: readonly PreparedWebhook[], permits: number): boolean {
  const responsive = withoutUnresponsive(callees, permits)
  return responsive.length > 0 && !responsive.some(each => isAtLimit(each, responsive, permits))
}

/**
 * Returns the webhooks without the unresponsive ones. A webhook is unresponsive if it is at its
 * limit and its last requests got no response: at least `minUnanswered` requests, and at least as
 * many as are in progress.
 */
function withoutUnresponsive(callees: readonly PreparedWebhook[], permits: number): readonly PreparedWebhook[] {
  const isUnresponsive = ({ permits: { ofWebhook } }: PreparedWebhook): boolean =>
    ofWebhook.unanswered >= Math.max(ofWebhook.inProgress, minUnanswered)
  return callees.filter(each => !isAtLimit(each, callees, permits) || !isUnresponsive(each))
}

const start: Permission = { kind: 'start' }
const waitForEnd: Permission = { kind: 'wait_for_end' }
const deferToOthers: Permission = { kind: 'defer_to_others' }

/**
 * Returns a permission to start after `ms` milliseconds. The wait is rounded up, because timers
 * have whole milliseconds.
 */
const waitFor = (ms: number): Permission =>
  ms <= 0 ? start : { kind: 'wait', forMs: Math.ceil(Math.min(ms, maxTimerMs)) }

/**
 * Returns the stricter of two permissions. `start` is the least strict one. The longer of two waits
 * is stricter than the shorter one. All other kinds are stricter than a wait.
 */
function stricterOf(one: Permission, other: Permission): Permission {
  if (other.kind === 'start') return one
  if (one.kind === 'wait' && other.kind === 'wait') return one.forMs > other.forMs ? one : other
  return one.kind === 'start' || one.kind === 'wait' ? other : one
}
