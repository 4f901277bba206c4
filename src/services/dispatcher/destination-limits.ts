import type { Decision } from '../../core/delivery/decide.ts'
import { deferByLimit, deferUntilTurn, type LimitReason, msToTurn } from '../../core/delivery/limit-deferral.ts'
import type { RetryPolicy } from '../../core/delivery/retry-tier.ts'
import { flowLimits } from '../../core/flow/limits.ts'
import type { PartitionShare } from '../../core/flow/partition-share.ts'
import { RateBudget } from '../../core/flow/rate-budget.ts'
import type { Clock } from '../../core/ports.ts'
import { type DurationMs, durationMs, type EpochMs } from '../../core/time.ts'
import type { Delivery, DestinationState } from './delivery.ts'
import { type DeliverPlan, type PlanDeps, type PlannedLimits, planOf } from './prepared-destination.ts'

const { maxTimerMs, handoverMs, maxTurnMs, minPerSecond } = flowLimits.share
const { maxWaitInMemory } = flowLimits.deferral

/** Whether an attempt may start at a destination now, by its own limits. */
export type Permission =
  | { readonly kind: 'start' }
  /** An attempt may start after `forMs` at the earliest. The deliveries stay in their queue. */
  | { readonly kind: 'wait'; readonly forMs: number }
  /** An attempt may start when a request to the destination has ended, or its limits have changed. */
  | { readonly kind: 'wait_for_end' }
  | LimitReason

export interface LimitsDeps extends PlanDeps {
  readonly share: PartitionShare
  /** Whether the group of the events topic confirms that this process owns its partitions. */
  readonly holdsLease: () => boolean
  /** Called when a queue that had to wait may be asked again. */
  readonly wake: (target: DestinationState) => void
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
}

/**
 * Applies the limits that a destination has of its own: `ratePerSecond` and `maxConcurrency` of its
 * policy, and the pace and pauses that its endpoint has caused with 429 and Retry-After.
 */
export class DestinationLimits {
  readonly #deps: LimitsDeps

  constructor(deps: LimitsDeps) {
    this.#deps = deps
  }

  /**
   * Whether a destination has a limit of its own, so that its deliveries may wait for a long time.
   * A limit that was added or removed since its last delivery counts from the next one on.
   */
  hasLimit({ plan, slowDown }: DestinationState): boolean {
    return plan?.kind === 'deliver' && (plan.limits !== undefined || slowDown.isActive)
  }

  permission(target: DestinationState): Permission {
    const { plan, slowDown } = target
    // Few destinations have limits, and this runs for each delivery.
    if (plan?.kind === 'deliver' && !this.hasLimit(target)) return start
    const current = planOf(target, this.#deps)
    // Deliveries that need no attempt do not wait.
    if (current.kind !== 'deliver' || current.isPaused) return start
    const now = this.#deps.clock.monotonic()
    slowDown.setPart(this.#deps.share.rateAt(now), now)
    const slowed = this.#slowed(target, now)
    if (slowed.kind === 'defer_pause' || current.limits === undefined) return slowed
    return stricterOf(slowed, this.#limited(target, current, current.limits, now))
  }

  /** The decision about a delivery that must not wait in memory; `undefined` when it may start. */
  deferral({ target, carried }: Delivery, policy: RetryPolicy, now: EpochMs): Decision | undefined {
    const permission = this.permission(target)
    const isDeferred = permission.kind === 'defer_pause' || permission.kind === 'defer_to_others'
    return isDeferred ? deferByLimit(permission, carried, policy, now) : undefined
  }

  /**
   * Decides about a queued delivery that has to leave memory while others of its destination stay
   * there. `undefined` when no limit of the destination says when its turn comes.
   */
  spill({ target, carried }: Delivery, policy: RetryPolicy, now: EpochMs): Decision | undefined {
    if (!this.hasLimit(target)) return undefined
    const forMs = msToTurn(carried, now) ?? this.#nextTurn(target, this.#deps.clock.monotonic())
    return forMs === undefined ? undefined : deferUntilTurn(forMs, carried, policy, now)
  }

  /**
   * Milliseconds until the turn of the next delivery that leaves memory: after those that left
   * before. The queue does not count, because most of it may leave next. At most five minutes,
   * because the limit may be raised.
   */
  #nextTurn(target: DestinationState, now: number): DurationMs | undefined {
    const perSecond = this.#perSecond(target, now)
    if (perSecond < minPerSecond) return undefined
    const latest = now + maxTurnMs
    target.lastTurn = Math.min(Math.max(target.lastTurn, now) + 1_000 / perSecond, latest)
    return durationMs(Math.ceil(target.lastTurn - now))
  }

  /** The attempts per second that the limits permit this process, or else that it makes. */
  #perSecond({ plan, slowDown }: DestinationState, now: number): number {
    const rate = plan?.kind === 'deliver' ? plan.limits?.ratePerSecond : undefined
    const own = rate === undefined ? undefined : rate * this.#deps.share.rateAt(now)
    const pace = slowDown.paceAt(now)
    if (own === undefined && pace === undefined) return slowDown.deliveredPerSecond(now)
    return Math.min(own ?? Number.POSITIVE_INFINITY, pace ?? Number.POSITIVE_INFINITY)
  }

  /** Notes that an attempt starts. Call it only when `permission` has returned `start`. */
  started({ plan, slowDown, rate }: DestinationState): void {
    slowDown.started()
    if (plan?.kind === 'deliver' && plan.limits?.ratePerSecond !== undefined) rate?.started()
  }

  /** Calls `wake` after `forMs`, unless an earlier call is scheduled already. */
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

  #slowed({ slowDown }: DestinationState, now: number): Permission {
    const pausedMs = slowDown.msPaused(now)
    if (pausedMs > maxWaitInMemory) return { kind: 'defer_pause', forMs: pausedMs }
    return waitFor(slowDown.msToWait(now))
  }

  #limited(target: DestinationState, { callees }: DeliverPlan, limits: PlannedLimits, now: number): Permission {
    const { ratePerSecond, maxConcurrency, rotateBy } = limits
    const { share, holdsLease, delivery } = this.#deps
    if (!holdsLease()) return waitFor(maxTimerMs)
    if (share.isNone) return deferToOthers
    if (maxConcurrency !== undefined) {
      // A request of the previous owner of a partition may continue for the timeout.
      const settleMs = delivery.timeout + handoverMs
      const { permits, isPending } = share.permitsAt(now, maxConcurrency, rotateBy, settleMs)
      if (permits === 0) return isPending ? waitFor(handoverMs) : deferToOthers
      if (callees.some(each => each.permits.ofWebhook.inProgress >= permits)) return waitForEnd
    }
    if (ratePerSecond === undefined) return start
    target.rate ??= new RateBudget()
    return waitFor(target.rate.msToWait(share, ratePerSecond, now))
  }
}

const start: Permission = { kind: 'start' }
const waitForEnd: Permission = { kind: 'wait_for_end' }
const deferToOthers: Permission = { kind: 'defer_to_others' }

/** Timers have whole milliseconds. */
const waitFor = (ms: number): Permission =>
  ms <= 0 ? start : { kind: 'wait', forMs: Math.ceil(Math.min(ms, maxTimerMs)) }

/** Of two waits the longer one. Any other permission than `start` is stricter than a wait. */
function stricterOf(one: Permission, other: Permission): Permission {
  if (other.kind === 'start') return one
  if (one.kind === 'wait' && other.kind === 'wait') return one.forMs > other.forMs ? one : other
  return one.kind === 'start' || one.kind === 'wait' ? other : one
}
