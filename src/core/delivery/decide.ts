import { flowLimits } from '../flow/limits.ts'
import { parseRetryAfter } from '../network/retry-after.ts'
import type { Webhook } from '../settings/settings.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import {
  type DeadLetterReason,
  type DeferralCause,
  type DropReason,
  isRefused,
  isRetryable,
  type Outcome,
  type RefusedOutcome,
} from './classify-outcome.ts'
import type { DeliveryState } from './delivery-state.ts'
import { beginPausedTime, endPausedTime, latestDeadline, minPausedWait } from './paused-time.ts'
import { deferralTier, type RetryPolicy, tierFor } from './retry-tier.ts'

const { maxWaitInMemory, unconfigured: unconfiguredWait, maxUnrouted } = flowLimits.deferral

export interface CallOutcome {
  readonly webhook: Webhook
  readonly outcome: Outcome
  /** The value of the response's Retry-After header, unparsed. */
  readonly retryAfter: string | undefined
  /** The HTTP status of the response; `undefined` when there was none. */
  readonly status?: number | undefined
}

/**
 * One attempt of a delivery, after its end. It ends with the first delivered request, or when all
 * its requests have ended.
 */
export interface Attempt {
  /** 1 for the first attempt. */
  readonly number: number
  readonly at: EpochMs
  /** One entry for each request that had ended when the attempt ended, in configuration order. */
  readonly calls: readonly CallOutcome[]
  /**
   * Number of webhooks that were not called because no permit was free. They count as retryable
   * failures.
   */
  readonly leftOut: number
  /** Whether a webhook was not called because other destinations hold the permits. */
  readonly isHeldUpByOthers: boolean
}

/**
 * Whether an attempt failed and also left out a webhook because other destinations hold its
 * permits. With more permits it might have succeeded.
 */
export const isWithoutPermit = ({ calls, isHeldUpByOthers }: Pick<Attempt, 'calls' | 'isHeldUpByOthers'>): boolean =>
  isHeldUpByOthers && !calls.some(({ outcome }) => outcome === 'delivered')

/**
 * Whether the only retryable outcomes of a failed attempt are 429. The endpoint works and asks for
 * fewer requests, so the destination is slowed down (`slow-down.ts`) and the attempt does not count
 * for the circuit breaker.
 */
export function isOnlySlowedDown({ calls }: Pick<Attempt, 'calls'>): boolean {
  if (calls.some(({ outcome }) => outcome === 'delivered')) return false
  const retryable = calls.filter(({ outcome }) => isRetryable(outcome))
  return retryable.length > 0 && retryable.every(({ outcome }) => outcome === 'http_429')
}

/** The shortest Retry-After of an attempt's retryable requests; 0 when no response has one. */
export const retryAfterOf = ({ calls }: Pick<Attempt, 'calls'>, now: EpochMs): DurationMs =>
  smallest(calls.map(call => (isRetryable(call.outcome) ? parseRetryAfter(call.retryAfter, now) : undefined)))

/**
 * Whether only the authorization server prevents a success: no webhook may be tried again for
 * another reason. Until the end of the retry window this does not count as an attempt, so it does
 * not use up the schedule.
 */
export function isWithoutToken({ calls }: Pick<Attempt, 'calls'>): boolean {
  const retryable = calls.filter(({ outcome }) => isRetryable(outcome))
  const isDelivered = calls.some(({ outcome }) => outcome === 'delivered')
  return !isDelivered && retryable.length > 0 && retryable.every(({ outcome }) => outcome === 'auth')
}

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

/**
 * Decides what happens to a delivery after an attempt: for example, after a 429 a retry, not before
 * its Retry-After.
 */
export function decide(attempt: Attempt, carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  const { calls, leftOut, number, isHeldUpByOthers } = attempt
  if (calls.some(call => call.outcome === 'delivered')) return { kind: 'delivered' }
  // No request was sent for lack of permits. This does not count as an attempt, so it does
  // not use up the schedule.
  if (calls.length === 0 && leftOut > 0) return defer(carried, 'lane_full', policy, now, { climbs: !isHeldUpByOthers })

  const retryable = calls.filter(call => isRetryable(call.outcome))
  const retryAfterMs = retryAfterOf(attempt, now)
  // After the end of the retry window, an attempt without a permit counts like any other. Otherwise
  // the delivery would never end.
  if (isWithoutPermit(attempt) && !isWindowOver(carried, now)) {
    const notBefore = epochMs(Math.min(now + retryAfterMs, carried.deadline))
    const waiting = { ...carried, notBefore, ...remember(carried, calls) }
    return defer(waiting, 'lane_full', policy, now, { climbs: false })
  }
  if (isWithoutToken(attempt) && !isWindowOver(carried, now))
    return defer({ ...carried, ...remember(carried, calls) }, 'auth', policy, now)

  const made: DeliveryState = {
    ...carried,
    attempt: calls.length === 0 ? carried.attempt : number,
    ...remember(carried, calls),
  }
  if (retryable.length === 0 && leftOut === 0) return deadLetter(made, firstRefusal(made))

  if (retryAfterMs > 0 && now + retryAfterMs > carried.deadline) return deadLetter(made, 'retry_after_exceeds_window')
  const scheduled = policy.schedule[number - 1]
  if (scheduled === undefined) return deadLetter(made, 'retries_exhausted')
  const wait = durationMs(Math.max(scheduled, retryAfterMs))
  if (now + wait > carried.deadline) return deadLetter(made, 'retry_window_over')
  return {
    kind: 'retried',
    tier: tierFor(wait, policy.tiers),
    carried: { ...made, notBefore: epochMs(now + wait), reason: retryable[0]?.outcome ?? 'lane_full' },
  }
}

/** Decides whether a delivery is due. Call it before every attempt, including the first one. */
export function decideBeforeAttempt(
  given: DeliveryState,
  paused: boolean,
  policy: RetryPolicy,
  now: EpochMs,
): { readonly kind: 'attempt' } | { readonly kind: 'wait'; readonly until: EpochMs } | Decision {
  const carried = endPausedTime(given, now)
  if (isWindowOver(carried, now)) {
    return paused || carried.attempt > 0 ? deadLetter(carried, 'retry_window_over') : { kind: 'attempt' }
  }
  // A delivery that was never attempted is due immediately. If it waited because a clock was set
  // back a little, the user's later events would overtake it.
  const ahead = carried.attempt === 0 && carried.outcomes === '' ? 0 : carried.notBefore - now
  if (ahead > maxWaitInMemory) return defer(carried, 'not_before', policy, now)
  if (paused) return defer(carried, 'paused', policy, now)
  return ahead > 0 ? { kind: 'wait', until: carried.notBefore } : { kind: 'attempt' }
}

/**
 * Defers a delivery without an attempt. After the end of the retry window it dead-letters the
 * delivery instead. A delivery that was never attempted is deferred even then, because each
 * delivery gets one attempt unless its destination is paused.
 *
 * `climbs: false` is for a wait that ends soon or that the destination did not cause, for example
 * while a probe of the circuit breaker is in progress. The tier is then that of a first deferral,
 * and `deferrals` does not count this one.
 */
export function defer(
  given: DeliveryState,
  cause: DeferralCause,
  policy: RetryPolicy,
  now: EpochMs,
  { climbs }: { readonly climbs: boolean } = { climbs: true },
): Decision {
  const carried = endPausedTime(given, now)
  if (isWindowOver(carried, now) && (carried.attempt > 0 || cause === 'paused'))
    return deadLetter(carried, 'retry_window_over')
  if (cause === 'not_before') {
    const tier = tierFor(durationMs(carried.notBefore - now), policy.tiers)
    return { kind: 'deferred', tier, cause, carried: { ...carried, reason: cause } }
  }
  const waiting = cause === 'paused' ? beginPausedTime(carried, policy, now) : carried
  const remaining = durationMs(latestDeadline(waiting) - now)
  const tier = deferralTier(climbs ? carried.deferrals : 0, remaining, policy.tiers, minPausedWait(waiting))
  const deferrals = carried.deferrals + (climbs ? 1 : 0)
  return { kind: 'deferred', tier, cause, carried: { ...waiting, deferrals, reason: cause } }
}

/**
 * Decides about a delivery from a retry topic when its destination is not configured. This process
 * may not yet have a configuration that another process has, so the delivery is deferred once. The
 * second time, or after the end of the retry window, it is dead-lettered.
 */
export function unconfigured(given: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  const carried = endPausedTime(given, now)
  if (carried.reason === 'unconfigured' || isWindowOver(carried, now)) return deadLetter(carried, 'unknown_destination')
  const cause = 'unconfigured'
  return {
    kind: 'deferred',
    tier: tierFor(unconfiguredWait, policy.tiers),
    cause,
    carried: { ...carried, reason: cause },
  }
}

/**
 * Defers an event whose source or named destination is not configured, or not yet in this process.
 * Returns `undefined` after `maxUnrouted` deferrals: then the event is dead-lettered.
 */
export function unrouted(carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Deferral | undefined {
  if (carried.deferrals >= maxUnrouted) return undefined
  const deferred = defer(carried, 'unconfigured', policy, now)
  return deferred.kind === 'deferred' ? deferred : undefined
}

/**
 * Whether the retry window ended before the first attempt. The delivery then gets one attempt, even
 * while the circuit breaker is open.
 */
export function mustBeAttempted(carried: DeliveryState, now: EpochMs): boolean {
  return carried.attempt === 0 && now >= endPausedTime(carried, now).deadline
}

/**
 * The destination's webhooks without those that rejected this delivery. The list can be empty after
 * the configuration was reloaded. An attempt without requests then dead-letters the delivery.
 */
export function webhooksToCall<Each extends Webhook>(
  webhooks: readonly Each[],
  { refusedWebhooks }: Pick<DeliveryState, 'refusedWebhooks'>,
): readonly Each[] {
  if (refusedWebhooks.length === 0) return webhooks
  return webhooks.filter(webhook => !refusedWebhooks.includes(webhook.urlHash))
}

const isWindowOver = (carried: DeliveryState, now: EpochMs): boolean => now > carried.deadline

function deadLetter(carried: DeliveryState, reason: DeadLetterReason): Decision {
  return { kind: 'dead_lettered', reason, carried: { ...carried, reason } }
}

/** The shortest wait; 0 when no response asked for one. */
function smallest(waits: readonly (DurationMs | undefined)[]): DurationMs {
  const given = waits.filter(wait => wait !== undefined)
  return given.length === 0 ? durationMs(0) : durationMs(Math.min(...given))
}

/**
 * Maximum number of outcomes in a delivery's headers. A destination has at most 5 webhooks at a
 * time, but each reload of the configuration can replace them.
 */
const maxRemembered = 10

/**
 * Merges the outcomes of an attempt into the delivery's list of outcomes. Rejections of earlier
 * attempts stay where they are; the new outcomes overwrite the other entries from the left. If a
 * webhook got no request in this attempt, the last entries stay, whichever webhook it was.
 */
function remember(
  carried: DeliveryState,
  calls: readonly CallOutcome[],
): Pick<DeliveryState, 'outcomes' | 'refusedWebhooks'> {
  const [only] = calls
  // Usually a destination has one webhook, and the delivery then has only its last outcome.
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
  const all = [...kept, ...fresh].slice(-maxRemembered)
  return {
    outcomes: all.map(({ outcome }) => outcome).join(','),
    refusedWebhooks: all.map(({ hash }) => hash).filter(hash => hash !== undefined),
  }
}

const hasNoOther = ({ outcomes, refusedWebhooks }: DeliveryState): boolean =>
  refusedWebhooks.length === 0 && !outcomes.includes(',')

function firstRefusal({ outcomes }: DeliveryState): DeadLetterReason {
  const refusal = outcomes.split(',').find((outcome): outcome is RefusedOutcome => isRefused(outcome))
  if (refusal === undefined) throw new TypeError('the attempt sent no request, but no webhook refused the delivery')
  return refusal
}
