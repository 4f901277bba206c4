import { refuseSchedule } from '../../delivery/schedule.ts'
import { delivery } from '../schema.ts'
import type { Rule } from './rule.ts'

/** Retries have to fit into their window, with the defaults where nothing is given. */
export const keptSchedule: Rule = config => {
  const given = delivery.safeParse(config.delivery ?? {})
  const refusal = given.success ? refuseSchedule(given.data) : undefined
  if (refusal === undefined) return []
  const key = ['timeout', 'window'].find(name => refusal.startsWith(name)) ?? 'schedule'
  return [{ path: ['delivery', key], message: refusal.replace(new RegExp(`^${key} `), '') }]
}

/** Two servers cannot listen at one place. */
export const distinctListeners: Rule = config => {
  const [collector, ops] = [config.collector?.listen, config.ops?.listen]
  if (collector === undefined || collector !== ops || collector.endsWith(':0')) return []
  return [{ path: ['ops', 'listen'], message: 'is taken already', first: ['collector', 'listen'] }]
}
