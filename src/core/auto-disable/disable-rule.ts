import type { Routing } from '../delivery/route.ts'
import type { Destination } from '../settings/settings.ts'
import { type DisableRule, type FailureState, isWatched, urlsOf } from './judge-failures.ts'

/**
 * Returns the rule that says when Hookline disables a destination because its endpoints fail.
 * `version` is the version of the configuration object; 0 for a destination of the configuration
 * file. Returns `undefined` when Hookline cannot read this object or file: the webhooks are then
 * unknown.
 */
export function disableRule(id: string, version: number, routing: Routing): DisableRule | undefined {
  const destination = routing.destinations.get(id)
  if (isUnreadable(destination, routing)) return undefined
  const { webhooks = [], lifecycle } = destination ?? {}
  return {
    ...{ version, urls: urlsOf({ webhooks }), webhooks: webhooks.map(({ label }) => label) },
    disableAfter: lifecycle?.disableAfter,
    onGone: lifecycle?.onGone ?? 'notify',
  }
}

/**
 * Whether the failure state of a destination on the config topic is outdated, so that it must be
 * replaced by a state without failures. It is outdated in these cases:
 * - The destination does not exist.
 * - The webhooks of the destination have changed since the state was written.
 * - Hookline has not disabled the destination, but the destination is paused or not enabled, or
 *   failures cannot disable it (`isWatched`). If Hookline has disabled it, the state must stay, so
 *   that it is disabled until an operator enables it.
 */
export function isOutdated(id: string, { failingSince, disabled, urls }: FailureState, routing: Routing): boolean {
  const destination = routing.destinations.get(id)
  if (failingSince === undefined || isUnreadable(destination, routing)) return false
  if (destination === undefined || urlsOf(destination) !== urls) return true
  return disabled === undefined && (destination.paused || !destination.enabled || !isWatched(destination))
}

/**
 * Whether the settings of a destination are unknown, for one of two reasons:
 * - Its file or configuration object cannot be read.
 * - No readable file has the destination, but a file that cannot be read may have it.
 */
const isUnreadable = (destination: Destination | undefined, { isIncomplete }: Routing): boolean =>
  destination === undefined ? isIncomplete === true : destination.isHeld === true
