import type { Routing } from '../delivery/route.ts'
import type { Destination } from '../settings/settings.ts'
import { type DisableRule, type FailureState, isWatched, urlsOf } from './judge-failures.ts'

/**
 * Returns the rule that says when a destination is disabled; `undefined` when its settings cannot
 * be read. `version`: that of its object; 0 for a destination in the configuration file.
 */
export function disableRule(id: string, version: number, routing: Routing): DisableRule | undefined {
  const destination = routing.destinations.get(id)
  if (isUnreadable(destination, routing)) return undefined
  const { webhooks = [], lifecycle } = destination ?? {}
  return {
    ...{ version, urls: urlsOf({ webhooks }), webhooks: webhooks.map(({ urlHash }) => urlHash) },
    disableAfter: lifecycle?.disableAfter,
    onGone: lifecycle?.onGone ?? 'notify',
  }
}

/**
 * Whether a state without failures must replace the failure state: the destination is gone, its
 * webhooks have changed, or Hookline neither has disabled it nor can disable it now.
 */
export function isOutdated(id: string, { failingSince, disabled, urls }: FailureState, routing: Routing): boolean {
  const destination = routing.destinations.get(id)
  if (failingSince === undefined || isUnreadable(destination, routing)) return false
  if (destination === undefined || urlsOf(destination) !== urls) return true
  return disabled === undefined && (destination.paused || !destination.enabled || !isWatched(destination))
}

/**
 * Whether the settings are unknown: the destination cannot be read, or an unreadable file may have
 * it.
 */
const isUnreadable = (destination: Destination | undefined, { isIncomplete }: Routing): boolean =>
  destination === undefined ? isIncomplete === true : destination.isHeld === true
