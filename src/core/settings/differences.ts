import { Secret } from '../secret.ts'
import type { Settings } from './settings.ts'

export type SettingsKey = keyof Settings

/** Top-level keys whose changes apply without a restart. */
export const liveKeys = [
  'sources',
  'destinations',
  'network',
  'payload',
  'audiences',
  'log',
  'canary',
  'operator',
] as const satisfies SettingsKey[]

export interface SettingsChange {
  readonly live: readonly SettingsKey[]
  readonly needRestart: readonly SettingsKey[]
}

/**
 * The live keys, and `excluded`, which is derived from the destinations and is not a key of
 * the configuration.
 */
const swapped: readonly SettingsKey[] = [...liveKeys, 'excluded']

const isLive = (key: SettingsKey): boolean => swapped.includes(key)

/** The top-level keys that differ, grouped by whether the change applies without a restart. */
export function changeBetween(before: Settings, after: Settings): SettingsChange {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)] as SettingsKey[])
  const changed = [...keys].filter(key => !same(before[key], after[key]))
  return { live: changed.filter(isLive), needRestart: changed.filter(key => !isLive(key)) }
}

/** The settings `before` with the live keys of `after`. */
export function withLiveSettings(before: Settings, after: Settings): Settings {
  return { ...before, ...Object.fromEntries(swapped.map(key => [key, after[key]])) }
}

/** Deep equality; secrets are compared by value. */
function same(a: unknown, b: unknown): boolean {
  if (a instanceof Secret && b instanceof Secret) return a.reveal() === b.reveal()
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b)
  const keys = Object.keys(a)
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && same(a[key as keyof typeof a], b[key as keyof typeof b]))
  )
}
