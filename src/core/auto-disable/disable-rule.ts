import type { Routing } from '../delivery/route.ts'
import type { Destination } from '../settings/settings.ts'
import { type DisableRule, type FailureState, isWatched, urlsOf } from './judge-failures.ts'

/**
 * Returns the rule that says when Hookline disables a destination because its endpoints fail.
 * `version` is that of the configuration object; 0 for a destination of the configuration file.
 * `undefined` when the object or file cannot be read.
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
 * Whether a state without failures must replace the failure state of a destination:
 * - The destination does not exist, or its webhooks have changed since the state was written.
 * - Hookline has not disabled the destination, and the destination is paused or not enabled, or
 *   failures cannot disable it (`isWatched`).
 */
export function isOutdated(id: string, { failingSince, disabled, urls }: FailureState, routing: Routing): boolean {
  const destination = routing.destinations.get(id)
  if (failingSince === undefined || isUnreadable(destination, routing)) return false
  if (destination === undefined || urlsOf(destination) !== urls) return true
  return disabled === undefined && (destination.paused || !destination.enabled || !isWatched(destination))
}

/**
 * Whether the settings of a destination are unknown: its file or configuration object cannot be
 * read, or no readable file has the destination, but an unreadable file may have it.
 */
const isUnreadable = (destination: Destination | undefined, { isIncomplete }: Routing): boolean =>
  destination === undefined ? isIncomplete === true : destination.isHeld === true
