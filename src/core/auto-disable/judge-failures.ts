import type { AutomaticDisabling, Destination } from '../settings/settings.ts'
import type { DurationMs, EpochMs } from '../time.ts'
import type { SeenFailures } from './failure-counter.ts'

/** Minimum number of failed attempts before a destination is disabled. */
export const minAttempts = 20

/**
 * Maximum wait after a success before a new failure is written to the config topic. Without a wait,
 * each failure and each success of an unreliable endpoint could cause a record.
 */
const maxWaitAfterSuccessMs = 60_000

/**
 * The failures of a destination, as all processes know them: a record of the config topic
 * (`destination-failure-record.ts`).
 */
export interface FailureState {
  /** Hashes of the webhooks' URLs when the state was written (`urlHashesOf`). */
  readonly urls: string
  /** The version of the configuration object; 0 for a destination of the configuration file. */
  readonly version: number
  /**
   * Since when all attempts have failed: the time at which a process wrote the first failure to the
   * config topic.
   */
  readonly failingSince: EpochMs | undefined
  /** Number of failed attempts since `failingSince`, at most `minAttempts`. */
  readonly attempts: number
  /** URL hashes of the webhooks that have responded with 410 Gone since `failingSince`. */
  readonly gone: readonly string[]
  /** Set when Hookline has disabled the destination. */
  readonly disabled: AutomaticDisabling | undefined
}

/** The rule that says when a destination is disabled. */
export interface DisableRule {
  readonly urls: string
  readonly version: number
  /** The URL hashes of all webhooks of the destination. */
  readonly webhooks: readonly string[]
  /**
   * How long all attempts must fail before the destination is disabled. If `undefined`, only
   * `onGone` can disable the destination.
   */
  readonly disableAfter: DurationMs | undefined
  readonly onGone: 'notify' | 'disable'
}

export type Verdict =
  | { readonly kind: 'keep' }
  /** The process writes nothing, and must keep the failures that it has seen. */
  | { readonly kind: 'wait' }
  /** The process must write the state to the config topic. */
  | { readonly kind: 'write'; readonly state: FailureState }
  /** The process must write the state, which disables the destination, to the config topic. */
  | { readonly kind: 'disable'; readonly state: FailureState; readonly disabled: AutomaticDisabling }

/** Whether failures can disable a destination. */
export const isWatched = ({ lifecycle }: Pick<Destination, 'lifecycle'>): boolean =>
  lifecycle?.disableAfter !== undefined || lifecycle?.onGone === 'disable'

/** The hashes of the URLs of a destination's webhooks, sorted, in one text. */
export const urlHashesOf = ({ webhooks }: Pick<Destination, 'webhooks'>): string =>
  webhooks
    .map(({ urlHash }) => urlHash)
    .sort()
    .join(',')

/** The state of a destination at which no attempt has failed. */
export const withoutFailures = ({ urls, version }: Pick<DisableRule, 'urls' | 'version'>): FailureState => ({
  ...{ urls, version, failingSince: undefined, attempts: 0, gone: [], disabled: undefined },
})

/*
 * no failures:  A failure leads to `failing`, if the rule counts this kind of failure.
 * failing:      All attempts have failed since the time T (`failingSince`).
 *               - A success at or after T, a pause or other URLs lead to `no failures`.
 *               - When T is at least `disableAfter` ago and 20 attempts have failed: `disabled`.
 *               - With `onGone: disable`, when all webhooks have responded with 410: `disabled`.
 * disabled:     The destination gets no attempts. The state ends when an operator enables the
 *               destination, when its URLs change, or when the disabling was wrong (`isRefuted`).
 */

/** Decides how the failures that one process has seen change the failure state. */
export function judgeFailures(
  known: FailureState | undefined,
  seen: SeenFailures,
  rule: DisableRule,
  now: EpochMs,
): Verdict {
  const current = known?.urls === rule.urls ? known : withoutFailures(rule)
  if (current.disabled !== undefined && !isRefuted(current, seen)) return { kind: 'keep' }
  const before = isEndedBy(current, seen) ? withoutFailures(rule) : current
  const after = { ...withFailures(before, seen, rule, now), version: rule.version }
  const reason = reasonToDisable(after, seen, rule)
  if (reason !== undefined) {
    const disabled = { at: now, reason, failingSince: after.failingSince ?? now }
    return { kind: 'disable', state: { ...after, disabled }, disabled }
  }
  const isFirst = current.failingSince === undefined && after.failingSince !== undefined
  if (isFirst && now - seen.resetAt < waitAfterSuccess(rule)) return { kind: 'wait' }
  return isSame(known ?? withoutFailures(rule), after) ? { kind: 'keep' } : { kind: 'write', state: after }
}

const waitAfterSuccess = ({ disableAfter }: DisableRule): number =>
  disableAfter === undefined ? maxWaitAfterSuccessMs : Math.min(maxWaitAfterSuccessMs, disableAfter / 10)

/**
 * Whether the disabling was wrong: a delivery succeeded, or the destination was paused, between the
 * first failure and the disabling.
 */
const isRefuted = ({ failingSince, disabled }: FailureState, { resetAt }: SeenFailures): boolean =>
  failingSince !== undefined && disabled !== undefined && resetAt >= failingSince && resetAt < disabled.at

const isEndedBy = ({ failingSince }: FailureState, { resetAt }: SeenFailures): boolean =>
  failingSince !== undefined && resetAt >= failingSince

function withFailures(
  state: FailureState,
  seen: SeenFailures,
  { disableAfter, onGone }: DisableRule,
  now: EpochMs,
): FailureState {
  const attempts = disableAfter === undefined ? 0 : seen.attempts
  const gone = onGone === 'notify' ? [] : seen.gone
  if (attempts === 0 && gone.length === 0) return state
  const { failingSince = now } = state
  // A success in any process resets `failingSince`. If the first failure in `seen` is older than
  // `failingSince`, a success may have followed that failure. So no attempt in `seen` is counted.
  const counted = seen.firstAt < failingSince ? 0 : attempts
  return {
    ...state,
    failingSince,
    attempts: Math.min(minAttempts, state.attempts + counted),
    gone: [...new Set([...state.gone, ...gone])].sort(),
  }
}

function reasonToDisable(
  { failingSince, attempts, gone }: FailureState,
  seen: SeenFailures,
  { disableAfter, onGone, webhooks }: DisableRule,
): AutomaticDisabling['reason'] | undefined {
  if (failingSince === undefined || (seen.attempts === 0 && seen.gone.length === 0)) return undefined
  if (onGone === 'disable' && webhooks.every(webhook => gone.includes(webhook))) return 'gone'
  const isOver = disableAfter !== undefined && seen.lastAt - failingSince >= disableAfter
  return isOver && attempts >= minAttempts ? 'failing' : undefined
}

/** Whether two states have the same meaning, so that the new one need not be written. */
function isSame(a: FailureState, b: FailureState): boolean {
  if (a.failingSince === undefined && b.failingSince === undefined) return true
  const isSameSpan = a.urls === b.urls && a.failingSince === b.failingSince && a.disabled === b.disabled
  return isSameSpan && a.attempts === b.attempts && a.gone.join() === b.gone.join()
}
