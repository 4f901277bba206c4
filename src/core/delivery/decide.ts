import { flowLimits } from '../flow/flow-control-constants.ts'
import { parseRetryAfter } from '../network/retry-after.ts'
import type { Webhook } from '../settings/settings.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import type { DeliveryState } from './delivery-state.ts'
import {
  type DeadLetterReason,
  type DeferralCause,
  type DropReason,
  isRefused,
  isRetryable,
  type Outcome,
} from './outcomes-reasons-and-classification.ts'
import { beginPausedTime, endPausedTime, latestDeadline, minPausedWait } from './paused-time.ts'
import { deferralTier, type RetryPolicy, tierFor } from './retry-tier.ts'

const { maxWaitInMemory, maxWaitWithoutRoom, unconfigured: unconfiguredWait, maxUnrouted } = flowLimits.deferral

export interface CallOutcome {
  readonly webhook: Webhook
  readonly outcome: Outcome
  /** The value of the response's Retry-After header, unparsed. */
  readonly retryAfter: string | undefined
  readonly status?: number | undefined
}

/** An attempt ends when one of its requests is delivered, or when all of them have ended. */
export interface Attempt {
  /** The number of the attempt, from 1 on. */
  readonly number: number
  readonly at: EpochMs
  /**
   * The requests that had ended when the attempt ended, in the order of the webhooks in the
   * configuration.
   */
  readonly calls: readonly CallOutcome[]
  /**
   * Number of webhooks that were not called because no permit (a slot for a concurrent request) was
   * free.
   */
  readonly webhooksWithoutPermit: number
  /**
   * Whether a webhook was not called because requests of other destinations held the permits that
   * it needs.
   */
  readonly isHeldUpByOthers: boolean
  /**
   * Whether a webhook was not called because it is at `policy.maxConcurrency` and does not respond.
   */
  readonly isHeldUpByWebhook?: boolean | undefined
}

/** The fields of an attempt that show whether the attempt lacked a permit. */
export type PermitFacts = Pick<Attempt, 'calls' | 'isHeldUpByOthers' | 'isHeldUpByWebhook'>

/** Whether an attempt failed and lacked permits with which it might have succeeded. */
export const isWithoutPermit = ({ calls, isHeldUpByOthers, isHeldUpByWebhook = false }: PermitFacts): boolean =>
  (isHeldUpByOthers || isHeldUpByWebhook) && !calls.some(({ outcome }) => outcome === 'delivered')

/**
 * Whether all retryable outcomes of a failed attempt are 429. The endpoint then works, and Hookline
 * only slows the destination down (`slow-down-after-429.ts`).
 */
export function isOnlySlowedDown({ calls }: Pick<Attempt, 'calls'>): boolean {
  if (calls.some(({ outcome }) => outcome === 'delivered')) return false
  const retryable = calls.filter(({ outcome }) => isRetryable(outcome))
  return retryable.length > 0 && retryable.every(({ outcome }) => outcome === 'http_429')
}

/** The shortest Retry-After of the retryable requests, in ms; 0 if none of them has one. */
export const retryAfterOf = ({ calls }: Pick<Attempt, 'calls'>, now: EpochMs): DurationMs =>
  smallest(calls.map(call => (isRetryable(call.outcome) ? parseRetryAfter(call.retryAfter, now) : undefined)))

/** Whether a failed attempt is retryable only because Hookline had no valid access token. */
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
 * Decides what happens to a delivery after an attempt.
 * @param webhooks all webhooks of the destination: if all of them rejected the delivery, the
 *   outcome of the first one is the dead-letter reason
 */
export function decide(
  attempt: Attempt,
  carried: DeliveryState,
  policy: RetryPolicy,
  now: EpochMs,
  webhooks: readonly Pick<Webhook, 'urlHash'>[] = [],
): Decision {
  const { calls, webhooksWithoutPermit, number, isHeldUpByOthers } = attempt
  if (calls.some(call => call.outcome === 'delivered')) return { kind: 'delivered' }
  // The attempt sent no request, because no permit was free. So it is not counted.
  if (calls.length === 0 && webhooksWithoutPermit > 0)
    return defer(carried, 'lane_full', policy, now, { isDeferralCounted: !isHeldUpByOthers })

  const retryable = calls.filter(call => isRetryable(call.outcome))
  const retryAfterMs = retryAfterOf(attempt, now)
  // A failed attempt that lacked a permit is not counted. After the retry window it is counted,
  // because the delivery must end.
  if (isWithoutPermit(attempt) && !isWindowOver(carried, now)) {
    const notBefore = epochMs(Math.min(now + retryAfterMs, carried.deadline))
    const waiting = { ...carried, notBefore, ...remember(carried, calls) }
    return defer(waiting, 'lane_full', policy, now, { isDeferralCounted: !isHeldUpByOthers })
  }
  if (isWithoutToken(attempt) && !isWindowOver(carried, now))
    return defer({ ...carried, ...remember(carried, calls) }, 'auth', policy, now)

  const made: DeliveryState = {
    ...carried,
    attempt: calls.length === 0 ? carried.attempt : number,
    ...remember(carried, calls),
  }
  if (retryable.length === 0 && webhooksWithoutPermit === 0) return deadLetter(made, firstRefusal(made, webhooks))

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

/**
 * Decides whether a delivery is attempted now. Must be called before every attempt.
 * @param hasRoom whether the partition may keep one more delivery in memory until it is due; if
 *   not, a delivery with a longer wait than `maxWaitWithoutRoom` is deferred
 */
export function decideBeforeAttempt(
  given: DeliveryState,
  paused: boolean,
  policy: RetryPolicy,
  now: EpochMs,
  hasRoom: () => boolean = () => true,
): { readonly kind: 'attempt' } | { readonly kind: 'wait'; readonly until: EpochMs } | Decision {
  const carried = endPausedTime(given, now)
  if (isWindowOver(carried, now)) {
    return paused || carried.attempt > 0 ? deadLetter(carried, 'retry_window_over') : { kind: 'attempt' }
  }
  // A delivery that was never attempted is due immediately, even if a clock was set back: later
  // events of the user must not overtake it.
  const ahead = carried.attempt === 0 && carried.outcomes === '' ? 0 : carried.notBefore - now
  if (ahead > maxWaitInMemory) return defer(carried, 'not_before', policy, now)
  if (paused) return defer(carried, 'paused', policy, now)
  if (ahead <= 0) return { kind: 'attempt' }
  const isInWindow = now + tierFor(durationMs(ahead), policy.tiers) <= carried.deadline
  if (ahead > maxWaitWithoutRoom && isInWindow && !hasRoom()) return defer(carried, 'not_before', policy, now)
  return { kind: 'wait', until: carried.notBefore }
}

interface DeferralOptions {
  readonly isDeferralCounted: boolean
  readonly minWait?: DurationMs
}

/**
 * Defers a delivery without an attempt. After the retry window, an attempted or paused delivery is
 * dead-lettered instead. With `isDeferralCounted: false`, the wait does not depend on earlier
 * deferrals, and this deferral does not lengthen later ones.
 */
export function defer(
  given: DeliveryState,
  cause: DeferralCause,
  policy: RetryPolicy,
  now: EpochMs,
  { isDeferralCounted, minWait }: DeferralOptions = { isDeferralCounted: true },
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
  const tier = deferralTier(
    isDeferralCounted ? carried.deferrals : 0,
    remaining,
    policy.tiers,
    minWait ?? minPausedWait(waiting),
  )
  const deferrals = carried.deferrals + (isDeferralCounted ? 1 : 0)
  return { kind: 'deferred', tier, cause, carried: { ...waiting, deferrals, reason: cause } }
}

/**
 * Defers a delivery, because all webhooks that have not rejected it are at `policy.maxConcurrency`
 * and do not respond. After the retry window, dead-letters the delivery.
 */
export function deferUnresponsive(carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  return isWindowOver(carried, now)
    ? deadLetter(carried, 'retry_window_over')
    : defer(carried, 'lane_full', policy, now)
}

/**
 * Decides about a delivery whose destination is not configured in this process: first defers it,
 * because another process may already know the destination, and then dead-letters it.
 */
export function decideUnconfigured(given: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
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
 * Defers an event whose source or named destination is not configured, because a newer
 * configuration may have the source and the destination. `undefined` after `maxUnrouted` deferrals.
 */
export function deferUnrouted(carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Deferral | undefined {
  if (carried.deferrals >= maxUnrouted) return undefined
  const deferred = defer(carried, 'unconfigured', policy, now)
  return deferred.kind === 'deferred' ? deferred : undefined
}

/**
 * Whether the retry window ended before the first attempt. Hookline then makes this attempt even if
 * the circuit breaker is open.
 */
export function mustBeAttempted(carried: DeliveryState, now: EpochMs): boolean {
  return carried.attempt === 0 && now >= endPausedTime(carried, now).deadline
}

/**
 * The webhooks that have not rejected this delivery; possibly none after a reload of the
 * configuration.
 */
export function webhooksToCall<Each extends Webhook>(
  webhooks: readonly Each[],
  { refusedWebhooks }: Pick<DeliveryState, 'refusedWebhooks'>,
): readonly Each[] {
  if (refusedWebhooks.length === 0) return webhooks
  return webhooks.filter(webhook => !refusedWebhooks.includes(webhook.urlHash))
}

/**
 * Forgets rejections by removed webhooks to make room for new outcomes. Must be called before each
 * attempt: otherwise `remember` could remove the rejection by a current webhook, and Hookline would
 * call this webhook again.
 */
export function forgetRemovedWebhooks(carried: DeliveryState, webhooks: readonly Webhook[]): DeliveryState {
  if (carried.refusedWebhooks.length + webhooks.length <= maxRemembered) return carried
  const isKept = ({ hash }: RememberedOutcome): boolean =>
    hash === undefined || webhooks.some(({ urlHash }) => urlHash === hash)
  return { ...carried, ...toStateFields(rememberedIn(carried).filter(isKept)) }
}

const isWindowOver = (carried: DeliveryState, now: EpochMs): boolean => now > carried.deadline

function deadLetter(carried: DeliveryState, reason: DeadLetterReason): Decision {
  return { kind: 'dead_lettered', reason, carried: { ...carried, reason } }
}

function smallest(waits: readonly (DurationMs | undefined)[]): DurationMs {
  const given = waits.filter(wait => wait !== undefined)
  return given.length === 0 ? durationMs(0) : durationMs(Math.min(...given))
}

/**
 * Maximum number of outcomes in a delivery's headers. New webhooks add outcomes; above the maximum,
 * the first outcomes are removed.
 */
const maxRemembered = 10

/** One outcome in a delivery's headers. */
interface RememberedOutcome {
  readonly outcome: string
  /** Set for a rejection: the `urlHash` of the webhook. */
  readonly hash: string | undefined
}

function rememberedIn({ outcomes, refusedWebhooks }: DeliveryState): readonly RememberedOutcome[] {
  const hashes = [...refusedWebhooks]
  return outcomes
    .split(',')
    .filter(Boolean)
    .map(outcome => ({ outcome, hash: isRefused(outcome) ? hashes.shift() : undefined }))
}

const toStateFields = (all: readonly RememberedOutcome[]): Pick<DeliveryState, 'outcomes' | 'refusedWebhooks'> => ({
  outcomes: all.map(({ outcome }) => outcome).join(','),
  refusedWebhooks: all.map(({ hash }) => hash).filter(hash => hash !== undefined),
})

/**
 * Merges an attempt's outcomes into the list of the delivery's outcomes. Rejections in the list
 * stay. The attempt's outcomes replace the entries that are not rejections, in order. Further
 * outcomes of the attempt are appended.
 */
function remember(
  carried: DeliveryState,
  calls: readonly CallOutcome[],
): Pick<DeliveryState, 'outcomes' | 'refusedWebhooks'> {
  const [only] = calls
  // A faster path for the usual case of one webhook.
  if (only !== undefined && calls.length === 1 && !isRefused(only.outcome) && hasNoOther(carried))
    return { outcomes: only.outcome, refusedWebhooks: [] }
  const fresh = calls.map(({ outcome, webhook }) => ({
    outcome,
    hash: isRefused(outcome) ? webhook.urlHash : undefined,
  }))
  const kept = rememberedIn(carried).map(entry => (entry.hash === undefined ? (fresh.shift() ?? entry) : entry))
  return toStateFields([...kept, ...fresh].slice(-maxRemembered))
}

const hasNoOther = ({ outcomes, refusedWebhooks }: DeliveryState): boolean =>
  refusedWebhooks.length === 0 && !outcomes.includes(',')

/**
 * The rejection by the first webhook of `webhooks` that rejected the delivery. If none of them
 * rejected it, the first rejection in the headers.
 */
function firstRefusal(carried: DeliveryState, webhooks: readonly Pick<Webhook, 'urlHash'>[]): DeadLetterReason {
  const remembered = rememberedIn(carried)
  const inOrder = webhooks.flatMap(({ urlHash }) => remembered.filter(({ hash }) => hash === urlHash))
  const refusal = [...inOrder, ...remembered].map(({ outcome }) => outcome).find(isRefused)
  if (refusal === undefined) throw new TypeError('bug in Hookline: no webhook rejected the delivery')
  return refusal
}
