import { flowLimits } from '../flow/limits.ts'
import { parseRetryAfter } from '../network/retry-after.ts'
import type { Webhook } from '../settings/settings.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../units.ts'
import type { DeliveryState } from './delivery-state.ts'
import {
  type DeadLetterReason,
  type DeferralCause,
  type DropReason,
  isRefused,
  isRetryable,
  type Outcome,
  type RefusedOutcome,
} from './outcome.ts'
import { deferralTier, type RetryPolicy, tierFor } from './schedule.ts'

const { maxWaitInMemory, unconfigured: unconfiguredWait, maxUnrouted } = flowLimits.deferral

export interface CallOutcome {
  readonly webhook: Webhook
  readonly outcome: Outcome
  /** The answer's Retry-After as it stands there. */
  readonly retryAfter: string | undefined
}

/** One try at a delivery, when its calls have ended. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number
  readonly at: EpochMs
  /** In configuration order. */
  readonly calls: readonly CallOutcome[]
  /** Webhooks not called because no permit was free: they count as retryable. */
  readonly leftOut: number
  /** Whether one of these was left out because other destinations hold the permits. */
  readonly isHeldUpByOthers: boolean
}

/** Whether an attempt without success might have had one, if other destinations held fewer permits: it says nothing of the endpoints. */
export const isInconclusive = ({ calls, isHeldUpByOthers }: Pick<Attempt, 'calls' | 'isHeldUpByOthers'>): boolean =>
  isHeldUpByOthers && !calls.some(({ outcome }) => outcome === 'delivered')

export type Decision =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retried'; readonly tier: DurationMs; readonly carried: DeliveryState }
  | {
      readonly kind: 'deferred'
      readonly tier: DurationMs
      readonly cause: DeferralCause
      readonly carried: DeliveryState
    }
  | { readonly kind: 'dead_lettered'; readonly reason: DeadLetterReason; readonly carried: DeliveryState }
  | { readonly kind: 'dropped'; readonly reason: DropReason }

export type Deferral = Extract<Decision, { kind: 'deferred' }>

/** What becomes of a delivery after an attempt. */
export function decide(attempt: Attempt, carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  const { calls, leftOut, number, isHeldUpByOthers } = attempt
  if (calls.some(call => call.outcome === 'delivered')) return { kind: 'delivered' }
  // Nothing was called, so that no attempt was made: the schedule is not used up by full lanes.
  if (calls.length === 0 && leftOut > 0) return defer(carried, 'lane_full', policy, now, { climbs: !isHeldUpByOthers })

  const retryable = calls.filter(call => isRetryable(call.outcome))
  const asked = smallest(retryable.map(call => parseRetryAfter(call.retryAfter, now)))
  // At the end of the window the attempt counts, so that the delivery ends.
  if (isInconclusive(attempt) && !isWindowOver(carried, now)) {
    const notBefore = epochMs(Math.min(now + asked, carried.deadline))
    const waiting = { ...carried, notBefore, ...remember(carried, calls) }
    return defer(waiting, 'lane_full', policy, now, { climbs: false })
  }

  const made: DeliveryState = {
    ...carried,
    attempt: calls.length === 0 ? carried.attempt : number,
    ...remember(carried, calls),
  }
  if (retryable.length === 0 && leftOut === 0) return giveUp(made, firstRefusal(made))

  if (asked > 0 && now + asked > carried.deadline) return giveUp(made, 'retry_after_exceeds_window')
  const scheduled = policy.schedule[number - 1]
  if (scheduled === undefined) return giveUp(made, 'retries_exhausted')
  const wait = durationMs(Math.max(scheduled, asked))
  if (now + wait > carried.deadline) return giveUp(made, 'retry_window_over')
  return {
    kind: 'retried',
    tier: tierFor(wait, policy.tiers),
    carried: { ...made, notBefore: epochMs(now + wait), reason: retryable[0]?.outcome ?? 'lane_full' },
  }
}

/** Whether a delivery that has come up is due. Asked before every attempt, the first one too. */
export function beforeAttempt(
  carried: DeliveryState,
  paused: boolean,
  policy: RetryPolicy,
  now: EpochMs,
): { readonly kind: 'attempt' } | { readonly kind: 'wait'; readonly until: EpochMs } | Decision {
  if (isWindowOver(carried, now)) {
    return paused || carried.attempt > 0 ? giveUp(carried, 'retry_window_over') : { kind: 'attempt' }
  }
  // What was never called is due as soon as it is read: to wait for a clock that was set back a little would change its user's order.
  const ahead = carried.attempt === 0 && carried.outcomes === '' ? 0 : carried.notBefore - now
  if (ahead > maxWaitInMemory) return defer(carried, 'not_before', policy, now)
  if (paused) return defer(carried, 'paused', policy, now)
  return ahead > 0 ? { kind: 'wait', until: carried.notBefore } : { kind: 'attempt' }
}

/**
 * Parks a delivery without an attempt. At the end of its window it is given up instead, unless it was never attempted:
 * only a pause takes that one attempt from it. `climbs` false, beside a probe, whose end is
 * near: it waits for the shortest tier, and this deferral is not counted.
 */
export function defer(
  carried: DeliveryState,
  cause: DeferralCause,
  policy: RetryPolicy,
  now: EpochMs,
  { climbs }: { readonly climbs: boolean } = { climbs: true },
): Decision {
  if (isWindowOver(carried, now) && (carried.attempt > 0 || cause === 'paused'))
    return giveUp(carried, 'retry_window_over')
  if (cause === 'not_before') {
    const tier = tierFor(durationMs(carried.notBefore - now), policy.tiers)
    return { kind: 'deferred', tier, cause, carried: { ...carried, reason: cause } }
  }
  const tier = deferralTier(climbs ? carried.deferrals : 0, durationMs(carried.deadline - now), policy.tiers)
  const deferrals = carried.deferrals + (climbs ? 1 : 0)
  return { kind: 'deferred', tier, cause, carried: { ...carried, deferrals, reason: cause } }
}

/** A waiting delivery whose destination is not configured, or not yet in this process: it waits once more before it is a dead letter. */
export function unconfigured(carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  if (carried.reason === 'unconfigured' || isWindowOver(carried, now)) return giveUp(carried, 'unknown_destination')
  const cause = 'unconfigured'
  return {
    kind: 'deferred',
    tier: tierFor(unconfiguredWait, policy.tiers),
    cause,
    carried: { ...carried, reason: cause },
  }
}

/** An event whose source, or the destination that it names, is not configured, or not yet: undefined when it has waited long enough. */
export function unrouted(carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Deferral | undefined {
  if (carried.deferrals >= maxUnrouted) return undefined
  const deferred = defer(carried, 'unconfigured', policy, now)
  return deferred.kind === 'deferred' ? deferred : undefined
}

/** True for a delivery whose window has run out before its first attempt: it gets that one, whatever the breaker says. */
export function mustBeAttempted(carried: DeliveryState, now: EpochMs): boolean {
  return carried.attempt === 0 && now >= carried.deadline
}

/**
 * A destination's webhooks without those that refused this delivery. None when a live edit left only such: an attempt
 * without calls then ends as the dead letter that they would have made at once.
 */
export function webhooksToCall<Each extends Webhook>(
  webhooks: readonly Each[],
  { refusedWebhooks }: Pick<DeliveryState, 'refusedWebhooks'>,
): readonly Each[] {
  if (refusedWebhooks.length === 0) return webhooks
  return webhooks.filter(webhook => !refusedWebhooks.includes(webhook.urlHash))
}

const isWindowOver = (carried: DeliveryState, now: EpochMs): boolean => now > carried.deadline

function giveUp(carried: DeliveryState, reason: DeadLetterReason): Decision {
  return { kind: 'dead_lettered', reason, carried: { ...carried, reason } }
}

/** 0 when no call gave any. */
function smallest(waits: readonly (DurationMs | undefined)[]): DurationMs {
  const given = waits.filter(wait => wait !== undefined)
  return given.length === 0 ? durationMs(0) : durationMs(Math.min(...given))
}

/** At most 5 are configured at a time; live edits could add more, the headers have room for these. */
const mostRemembered = 10

/** Puts the outcomes of these calls in the permits of those not refused before; what was left out keeps its last one. */
function remember(
  carried: DeliveryState,
  calls: readonly CallOutcome[],
): Pick<DeliveryState, 'outcomes' | 'refusedWebhooks'> {
  const [only] = calls
  // Most destinations have one webhook, whose last outcome is all that there is to remember.
  if (only !== undefined && calls.length === 1 && !isRefused(only.outcome) && hasNoOther(carried))
    return { outcomes: only.outcome, refusedWebhooks: [] }
  const hashes = [...carried.refusedWebhooks]
  const fresh = calls.map(({ outcome, webhook }) => ({
    outcome,
    hash: isRefused(outcome) ? webhook.urlHash : undefined,
  }))
  const kept = carried.outcomes
    .split(',')
    .filter(Boolean)
    .map(outcome => {
      const hash = isRefused(outcome) ? hashes.shift() : undefined
      return hash === undefined ? (fresh.shift() ?? { outcome, hash }) : { outcome, hash }
    })
  const all = [...kept, ...fresh].slice(-mostRemembered)
  return {
    outcomes: all.map(({ outcome }) => outcome).join(','),
    refusedWebhooks: all.map(({ hash }) => hash).filter(hash => hash !== undefined),
  }
}

const hasNoOther = ({ outcomes, refusedWebhooks }: DeliveryState): boolean =>
  refusedWebhooks.length === 0 && !outcomes.includes(',')

function firstRefusal({ outcomes }: DeliveryState): DeadLetterReason {
  const refusal = outcomes.split(',').find((outcome): outcome is RefusedOutcome => isRefused(outcome))
  if (refusal === undefined) throw new TypeError('an attempt without calls on a delivery that nobody refused')
  return refusal
}
