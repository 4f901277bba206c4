import { fixedTiers } from '../fixed-retry-tiers.ts'
import { type DurationMs, durationMs, formatDuration } from '../time.ts'
import { refuseSchedule } from './check-schedule-and-listeners.ts'
import type { Rule } from './configuration-rule.ts'
import { type DeliveryRules, effectivePolicy } from './effective-policy.ts'
import { delivery } from './schema-of-configuration.ts'
import { policy } from './schema-of-destination-policy.ts'
import type { DestinationPolicy } from './settings.ts'

/**
 * Timeout and window of a policy must not exceed the global ones, and all retries must fit into the
 * window. Other checks report a wrong `delivery`.
 */
export const policiesWithinLimits: Rule = config => {
  const global = delivery.safeParse(config.delivery ?? {}).data
  if (global === undefined || refuseSchedule(global) !== undefined) return []
  return (config.destinations ?? []).flatMap((destination, index) => {
    const own = policy.safeParse(destination?.policy ?? {}).data
    if (own === undefined) return []
    return objectionsTo(own, global).map(({ key, message, hint }) => ({
      path: ['destinations', index, 'policy', key],
      message,
      hint,
    }))
  })
}

interface PolicyObjection {
  readonly key: 'timeout' | 'schedule' | 'window'
  readonly message: string
  readonly hint: string
}

function objectionsTo(own: DestinationPolicy, global: DeliveryRules): readonly PolicyObjection[] {
  const single = [timeoutObjection(own, global), windowObjection(own, global), waitObjection(own, global)]
  const found = single.filter(objection => objection !== undefined)
  if (found.length > 0) return found
  const refusal = refuseSchedule(effectivePolicy(own, global))
  if (refusal === undefined) return []
  const message = refusal.replace(/^schedule /, '')
  if (own.schedule !== undefined)
    return [
      {
        key: 'schedule',
        message,
        hint: message.startsWith('does not fit') ? limitsHint : 'order the waits from the shortest to the longest',
      },
    ]
  return [
    {
      key: 'window',
      message: `is too short for delivery.schedule: the schedule ${message.replace(/; remove .*$/, '')}`,
      hint: 'raise policy.window, or set policy.schedule to waits that fit into this window',
    },
  ]
}

const limitsHint =
  'this check uses policy.window and policy.timeout; if one is not set, it uses delivery.window or delivery.timeout'

function timeoutObjection({ timeout }: DestinationPolicy, global: DeliveryRules): PolicyObjection | undefined {
  if (timeout === undefined || (timeout > 0 && timeout <= global.timeout)) return undefined
  const message = `must be more than 0 and at most ${formatDuration(global.timeout)}, not ${formatDuration(timeout)}`
  return { key: 'timeout', message, hint: limitHint('timeout', global.timeout) }
}

function windowObjection({ window }: DestinationPolicy, global: DeliveryRules): PolicyObjection | undefined {
  if (window === undefined || window <= global.window) return undefined
  const message = `must be at most ${formatDuration(global.window)}, not ${formatDuration(window)}`
  return { key: 'window', message, hint: limitHint('window', global.window) }
}

/** Refuses a wait in `schedule` that is shorter than the shortest wait of a retry topic. */
function waitObjection({ schedule }: DestinationPolicy, global: DeliveryRules): PolicyObjection | undefined {
  const shortest = durationMs(Math.min(...fixedTiers, ...global.schedule))
  const early = schedule?.find(wait => wait < shortest)
  if (early === undefined) return undefined
  const message = `must not contain a wait shorter than ${formatDuration(shortest)}, but has ${formatDuration(early)}`
  return {
    key: 'schedule',
    message,
    hint: `use waits of ${formatDuration(shortest)} or longer, or add ${formatDuration(early)} to delivery.schedule`,
  }
}

const limitHint = (key: 'timeout' | 'window', limit: DurationMs): string =>
  `policy.${key} must not be longer than delivery.${key}, which is ${formatDuration(limit)}`
