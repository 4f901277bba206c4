import { refuseSchedule } from '../../delivery/schedule.ts'
import { durationMs } from '../../units.ts'
import { parseHostPort } from '../fields.ts'
import { meaningAt } from '../json-schema.ts'
import type { SettingsProblem } from '../problem.ts'
import { defaultListen, delivery } from '../schema.ts'
import type { Rule } from './rule.ts'

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
  const [collector, ops] = [config.collector?.listen, config.ops?.listen]
  const [a, b] = [parseHostPort(collector ?? defaultListen.collector), parseHostPort(ops ?? defaultListen.ops)]
  const wide = [a, b].some(place => place?.host === '0.0.0.0' || place?.host === '::')
  if (a === undefined || b === undefined || a.port !== b.port || a.port === 0 || !(wide || a.host === b.host)) return []
  const [path, first] = (ops === undefined ? ['collector', 'ops'] : ['ops', 'collector']).map(name => [name, 'listen'])
  const both = collector !== undefined && ops !== undefined
  const hint = 'give it another port'
  return [{ path: path!, message: `is where ${first![0]} listens`, hint, ...(both && { first: first! }) }]
}
