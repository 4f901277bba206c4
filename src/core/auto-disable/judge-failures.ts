import type { AutomaticDisabling, Destination } from '../settings/settings.ts'
import type { DurationMs, EpochMs } from '../time.ts'
import type { SeenFailures } from './endpoint-failures.ts'

/** A destination is disabled only after this many failed attempts, however long it fails. */
export const minAttempts = 20

/**
 * What the installation knows about the failures of a destination. It is a record of the config
 * topic (`core/config-objects/failure-record.ts`), so every process has it.
 */
export interface FailureState {
  /** The webhooks to which the state belongs: `urlsOf` the destination. */
  readonly urls: string
  /** The version of the destination's document, 0 in the configuration file. */
  readonly version: number
  /**
   * Since when all attempts fail; `undefined` while none has failed. It is when the first failure was
   * written, not when it happened: a success in between, at another process, is then no part of it.
   */
  readonly failingSince: EpochMs | undefined
  /** Failed attempts since then, at most `minAttempts`. */
  readonly attempts: number
  /** Labels of the webhooks that have responded with 410 Gone since then. */
  readonly gone: readonly string[]
  /** Set when Hookline has disabled the destination. */
  readonly disabled: AutomaticDisabling | undefined
}

/** When a destination is disabled. */
export interface DisableRule {
  readonly urls: string
  readonly version: number
  /** The labels of all webhooks. */
  readonly webhooks: readonly string[]
  /** `undefined`: never. */
  readonly disableAfter: DurationMs | undefined
  readonly onGone: 'notify' | 'disable'
}

export type Verdict =
  | { readonly kind: 'keep' }
  /** The state must be written. */
  | { readonly kind: 'note'; readonly state: FailureState }
  /** The state must be written, and disables the destination. */
  | { readonly kind: 'disable'; readonly state: FailureState; readonly disabled: AutomaticDisabling }

/** Whether failures can disable a destination. */
export const isWatched = ({ lifecycle }: Pick<Destination, 'lifecycle'>): boolean =>
  lifecycle?.disableAfter !== undefined || lifecycle?.onGone === 'disable'

/** The hashes of the URLs of a destination, in one text. Empty for one without webhooks. */
export const urlsOf = ({ webhooks }: Pick<Destination, 'webhooks'>): string =>
  webhooks
    .map(({ urlHash }) => urlHash)
    .sort()
    .join(',')

/** The state of a destination of which no attempt has failed. */
export const withoutFailures = ({ urls, version }: Pick<DisableRule, 'urls' | 'version'>): FailureState => ({
  ...{ urls, version, failingSince: undefined, attempts: 0, gone: [], disabled: undefined },
})

/*
 * no failures --an attempt fails--> failing since T --`disableAfter` is over, and 20 attempts--> disabled
 *      ^                                 |                                                          |
 *      +-- a success at or after T, a pause, other URLs --+      enabled by an operator, other URLs --+
 */

/**
 * Decides what the failures that one process has seen change. The decision depends only on the
 * state and on what was seen, so a process whose write did not count repeats it with the new state.
 */
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
  return isSame(known ?? withoutFailures(rule), after) ? { kind: 'keep' } : { kind: 'note', state: after }
}

/** Whether a delivery succeeded before the destination was disabled, but was not reported in time. */
const isRefuted = ({ failingSince, disabled }: FailureState, { endedAt }: SeenFailures): boolean =>
  failingSince !== undefined && disabled !== undefined && endedAt >= failingSince && endedAt < disabled.at

const isEndedBy = ({ failingSince }: FailureState, { endedAt }: SeenFailures): boolean =>
  failingSince !== undefined && endedAt >= failingSince

/** Adds the failures that are needed: all with `disableAfter`, otherwise only 410 Gone. */
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
  // A part of these attempts may have failed before a success that another process has reported.
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

/** Whether two states mean the same. Without failures, the URLs and the version have no meaning. */
function isSame(a: FailureState, b: FailureState): boolean {
  if (a.failingSince === undefined && b.failingSince === undefined) return true
  const isSameSpan = a.urls === b.urls && a.failingSince === b.failingSince && a.disabled === b.disabled
  return isSameSpan && a.attempts === b.attempts && a.gone.join() === b.gone.join()
}
