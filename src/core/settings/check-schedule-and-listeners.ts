import { countWithNoun } from '../count-with-noun.ts'
import { durationMs, formatDuration, readableDuration } from '../time.ts'
import { meaningAt } from './configuration-json-schema.ts'
import type { Rule } from './configuration-rule.ts'
import { delivery } from './schema-of-configuration.ts'
import { defaultListen } from './schema-of-http-servers.ts'
import type { DeliverySettings } from './settings.ts'
import type { SettingsProblem } from './settings-problem.ts'
import { parseHostPort } from './value-types.ts'

/**
 * The maximum values of `delivery.timeout` and `delivery.window`. `scheduleFitsWindow` replaces an
 * invalid value by its maximum to check the other keys.
 */
const maxDurations = { timeout: durationMs(5_000), window: durationMs(4 * 3_600_000) }

/** Checks that all retries fit into the retry window. */
export const scheduleFitsWindow: Rule = config => {
  const given = delivery.safeParse(config.delivery ?? {})
  const problems: SettingsProblem[] = []
  let judged = given.data
  while (judged !== undefined) {
    const refusal = refuseSchedule(judged)
    if (refusal === undefined) break
    const key = (['timeout', 'window'] as const).find(name => refusal.startsWith(`${name} `))
    const path = ['delivery', key ?? 'schedule']
    problems.push({ path, message: refusal.replace(/^(timeout|window|schedule) /, ''), hint: meaningAt(path) })
    judged = key && { ...judged, [key]: maxDurations[key] }
  }
  return problems
}

/**
 * Checks that no two servers listen on the same address and port. 0.0.0.0 and `::` overlap with all
 * addresses.
 */
export const distinctListeners: Rule = config => {
  const given = (name: Listener): string | undefined => config[name]?.listen
  const placeOf = (name: Listener): Place => parseHostPort(given(name) ?? defaultListen[name])
  // The operator API listens only when it has a key.
  const names: readonly Listener[] = [
    'collector',
    'ops',
    ...(config.operator?.keys?.length ? (['operator'] as const) : []),
  ]
  const pairs = names.flatMap((name, index) => names.slice(0, index).map(other => [name, other] as const))
  return pairs
    .filter(([name, other]) => isSamePlace(placeOf(name), placeOf(other)))
    .map(([name, other]) => {
      const [at, first] = given(name) === undefined ? [other, name] : [name, other]
      const both = given(name) !== undefined && given(other) !== undefined
      const message = `conflicts with the ${first} listener: both would use the same address and port`
      return { path: [at, 'listen'], message, hint: 'use another port', ...(both && { first: [first, 'listen'] }) }
    })
}

type Listener = keyof typeof defaultListen
type Place = ReturnType<typeof parseHostPort>

function isSamePlace(a: Place, b: Place): boolean {
  if (a === undefined || b === undefined || a.port !== b.port || a.port === 0) return false
  return a.host === b.host || [a, b].some(({ host }) => host === '0.0.0.0' || host === '::')
}

/**
 * Returns why these settings are not allowed. The text begins with the name of the wrong setting.
 * Returns `undefined` if the settings are allowed.
 */
export function refuseSchedule(
  delivery: Pick<DeliverySettings, 'schedule' | 'timeout' | 'window'>,
): string | undefined {
  const { schedule, timeout, window } = delivery
  if (timeout <= 0 || timeout > maxDurations.timeout) {
    const max = formatDuration(maxDurations.timeout)
    return `timeout must be more than 0 and at most ${max}, not ${formatDuration(timeout)}`
  }
  if (window > maxDurations.window) {
    return `window must be at most ${formatDuration(maxDurations.window)}, not ${formatDuration(window)}`
  }
  if (schedule.some(wait => wait <= 0)) return 'schedule must not contain a wait of 0'
  const shorter = schedule.findIndex((wait, index) => wait < (schedule[index - 1] ?? 0))
  if (shorter >= 0) {
    const [before, wait] = schedule.slice(shorter - 1).map(formatDuration)
    return `schedule must not decrease: ${wait} comes after ${before}`
  }
  const waits = schedule.reduce((sum, wait) => sum + wait, 0)
  const count = schedule.length + 1
  const needed = durationMs(waits + count * timeout)
  if (needed <= window) return undefined
  const attempts = `${countWithNoun(count, 'attempt')} of up to ${formatDuration(timeout)}${count === 1 ? '' : ' each'}`
  return (
    `schedule does not fit into the retry window of ${formatDuration(window)}: ` +
    `its waits (${readableDuration(durationMs(waits))} in total) and ${attempts} ` +
    `can take ${readableDuration(needed)}; ` +
    `remove or shorten waits${needed > maxDurations.window ? '' : ', or raise "window"'}`
  )
}
