import type { Routing } from '../delivery/route.ts'
import type { Destination } from '../settings/settings.ts'
import { type DisableRule, type FailureState, isWatched, urlsOf } from './judge-failures.ts'

/**
 * The rule for a destination in the current configuration. `undefined` when its document or file
 * cannot be read, because nothing is known about its webhooks then. `version`: the version of its
 * document.
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
 * Whether a written failure has lost its meaning, because the destination gets no attempts, has
 * other webhooks or no `lifecycle`, or does not exist. Only an operator ends what Hookline has
 * disabled, unless the webhooks have changed.
 */
export function isOutdated(id: string, { failingSince, disabled, urls }: FailureState, routing: Routing): boolean {
  const destination = routing.destinations.get(id)
  if (failingSince === undefined || isUnreadable(destination, routing)) return false
  if (destination === undefined || urlsOf(destination) !== urls) return true
  return disabled === undefined && (destination.paused || !destination.enabled || !isWatched(destination))
}

/** Whether the destination may exist, but cannot be read. */
const isUnreadable = (destination: Destination | undefined, { isIncomplete }: Routing): boolean =>
  destination === undefined ? isIncomplete === true : destination.isHeld === true
