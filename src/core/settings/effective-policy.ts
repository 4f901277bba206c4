import type { DeliverySettings, DestinationPolicy } from '../settings/settings.ts'
import { type DurationMs, durationMs } from '../time.ts'

/** The settings of `delivery` that the policy of a destination can override. */
export type DeliveryRules = Pick<DeliverySettings, 'timeout' | 'schedule' | 'window' | 'ordering'>

/**
 * Returns the delivery settings of a destination. The values of its policy have precedence. But the
 * global timeout and window limit these values, because an operator may have lowered the global
 * values since the check of the policy.
 */
export function effectivePolicy(own: DestinationPolicy | undefined, global: DeliveryRules): DeliveryRules {
  const { timeout, schedule, window, ordering } = own ?? none
  // A shortcut, because this function runs for each delivery.
  if ((timeout ?? schedule ?? window ?? ordering) === undefined) return global
  return {
    timeout: shorter(timeout, global.timeout),
    schedule: schedule ?? global.schedule,
    window: windowOf(own, global),
    ordering: ordering ?? global.ordering,
  }
}

/** The retry window of a destination: that of its policy, but at most the global one. */
export const windowOf = (own: DestinationPolicy | undefined, global: Pick<DeliveryRules, 'window'>): DurationMs =>
  shorter(own?.window, global.window)

const none: DestinationPolicy = {}

const shorter = (own: DurationMs | undefined, limit: DurationMs): DurationMs =>
  own === undefined ? limit : durationMs(Math.min(own, limit))
