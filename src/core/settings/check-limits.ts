import { durationMs, formatDuration } from '../units.ts'
import type { Rule } from './check.ts'
import { parseHostPort } from './fields.ts'
import { meaningAt } from './json-schema.ts'
import { defaultListen } from './listeners.ts'
import type { SettingsProblem } from './problem.ts'
import { delivery } from './schema.ts'
import type { DeliverySettings } from './settings.ts'

/** What time-out and window may be at most (A4.1, A7); stand in for a wrong one, so that the schedule is judged too. */
const longest = { timeout: durationMs(5_000), window: durationMs(4 * 3_600_000) }

/** Retries have to fit into their window, with the defaults where nothing is given. */
export const keptSchedule: Rule = config => {
  const given = delivery.safeParse(config.delivery ?? {})
  const problems: SettingsProblem[] = []
  let judged = given.data
  while (judged !== undefined) {
    const refusal = refuseSchedule(judged)
    if (refusal === undefined) break
    const key = (['timeout', 'window'] as const).find(name => refusal.startsWith(`${name} `))
    const path = ['delivery', key ?? 'schedule']
    problems.push({ path, message: refusal.replace(/^(timeout|window|schedule) /, ''), hint: meaningAt(path) })
    judged = key && { ...judged, [key]: longest[key] }
  }
  return problems
}

/** Two servers cannot listen at one place, nor one of them on all addresses with the other's port. */
export const distinctListeners: Rule = config => {
  const given = (name: Listener): string | undefined => config[name]?.listen
  const placeOf = (name: Listener): Place => parseHostPort(given(name) ?? defaultListen[name])
  // Without a key the operator API does not listen.
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
      const message = `is where ${first} listens`
      return { path: [at, 'listen'], message, hint: 'give it another port', ...(both && { first: [first, 'listen'] }) }
    })
}

type Listener = keyof typeof defaultListen
type Place = ReturnType<typeof parseHostPort>

function isSamePlace(a: Place, b: Place): boolean {
  if (a === undefined || b === undefined || a.port !== b.port || a.port === 0) return false
  return a.host === b.host || [a, b].some(({ host }) => host === '0.0.0.0' || host === '::')
}

/** A4.1: an endpoint has 5 seconds to answer. */
const longestTimeout = durationMs(5_000)
/** A7: retried for at most 4 hours. */
const longestWindow = durationMs(4 * 3_600_000)

/** Why a schedule cannot be kept; undefined when it can. */
export function refuseSchedule(
  delivery: Pick<DeliverySettings, 'schedule' | 'timeout' | 'window'>,
): string | undefined {
  const { schedule, timeout, window } = delivery
  if (timeout <= 0 || timeout > longestTimeout) {
    return `timeout must be more than 0 and at most ${formatDuration(longestTimeout)}, not ${formatDuration(timeout)}`
  }
  if (window > longestWindow) {
    return `window must be at most ${formatDuration(longestWindow)}, not ${formatDuration(window)}`
  }
  if (schedule.some(wait => wait <= 0)) return 'every wait of schedule must be more than 0'
  const shorter = schedule.findIndex((wait, index) => wait < (schedule[index - 1] ?? 0))
  if (shorter >= 0) {
    const [before, wait] = schedule.slice(shorter - 1).map(formatDuration)
    return `schedule must never decrease: ${wait} comes after ${before}`
  }
  const waits = schedule.reduce((sum, wait) => sum + wait, 0)
  const needed = durationMs(waits + (schedule.length + 1) * timeout)
  if (needed <= window) return undefined
  return (
    `schedule does not fit into window: ${formatDuration(durationMs(waits))} of waits and ${schedule.length + 1} attempts ` +
    `of up to ${formatDuration(timeout)} are ${formatDuration(needed)}, window is ${formatDuration(window)}`
  )
}
