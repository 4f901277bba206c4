import type { Routing } from '../delivery/route.ts'
import type { Destination } from '../settings/settings.ts'
import { type DisableRule, type FailureState, isWatched, urlHashesOf } from './judge-failures.ts'

/**
 * Returns the rule that says when a destination is disabled; `undefined` when the destination's
 * settings cannot be read.
 * @param version the version of the configuration object; 0 for a destination in the configuration
 *   file
 */
export function disableRule(id: string, version: number, routing: Routing): DisableRule | undefined {
  const destination = routing.destinations.get(id)
  if (isUnreadable(destination, routing)) return undefined
  const { webhooks = [], lifecycle } = destination ?? {}
  return {
    ...{ version, urls: urlHashesOf({ webhooks }), webhooks: webhooks.map(({ urlHash }) => urlHash) },
    disableAfter: lifecycle?.disableAfter,
    onGone: lifecycle?.onGone ?? 'notify',
  }
}

/**
 * Whether a state without failures must replace the failure state. This is so in two cases:
 * - The destination is gone, or its webhooks have changed.
 * - Hookline has not disabled the destination, and failures cannot disable it now: it is paused,
 *   disabled by an operator, or not watched (see `isWatched`).
 */
export function isOutdated(id: string, { failingSince, disabled, urls }: FailureState, routing: Routing): boolean {
  const destination = routing.destinations.get(id)
  if (failingSince === undefined || isUnreadable(destination, routing)) return false
  if (destination === undefined || urlHashesOf(destination) !== urls) return true
  return disabled === undefined && (destination.paused || !destination.enabled || !isWatched(destination))
}

/**
 * Whether the settings are unknown: the destination cannot be read, or an unreadable file may
 * contain the destination.
 */
const isUnreadable = (destination: Destination | undefined, { isIncomplete }: Routing): boolean =>
  destination === undefined ? isIncomplete === true : destination.isPlaceholder === true
