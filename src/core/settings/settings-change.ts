import { Secret } from '../secret.ts'
import { everyService, type ServiceName } from './service-names.ts'
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
  'notices',
  'operator',
] as const satisfies SettingsKey[]

export interface SettingsChange {
  readonly live: readonly SettingsKey[]
  /** Changed keys that need a restart to apply, named as in the configuration file. */
  readonly needRestart: readonly string[]
}

/**
 * The settings that a reload replaces. `excluded` and `entriesAsWritten` are not keys of the
 * configuration: Hookline derives them from the files that it reads.
 */
const replacedOnReload: readonly SettingsKey[] = [...liveKeys, 'excluded', 'entriesAsWritten']

/** Settings that are not top-level keys of the file, with the key of the file that sets them. */
const nameInFile: Partial<Record<SettingsKey, string>> = {
  operatorListen: 'operator.listen',
  configTopic: 'operator.encryptionKeyFile',
}

const isLive = (key: SettingsKey): boolean => replacedOnReload.includes(key)

/**
 * The top-level keys that differ, by whether the change applies without a restart.
 *
 * @param services the services of the process; by default all
 */
export function changeBetween(
  before: Settings,
  after: Settings,
  services: ReadonlySet<ServiceName> = everyService,
): SettingsChange {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)] as SettingsKey[])
  // `entriesAsWritten` changes only together with `sources` or `destinations`.
  const changed = [...keys].filter(key => key !== 'entriesAsWritten' && !isSameValue(before[key], after[key]))
  // Only the operator service uses its listen address.
  const needRestart = changed.filter(key => !isLive(key) && (key !== 'operatorListen' || services.has('operator')))
  return {
    live: changed.filter(isLive),
    needRestart: needRestart.map(key => nameInFile[key] ?? key),
  }
}

/**
 * Returns `before` with the values of `after` for the settings that a reload replaces without a
 * restart (`replacedOnReload`).
 */
export function withLiveSettings(before: Settings, after: Settings): Settings {
  return { ...before, ...Object.fromEntries(replacedOnReload.map(key => [key, after[key]])) }
}

/** Deep equality; secrets are compared by value. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (a instanceof Secret && b instanceof Secret) return a.reveal() === b.reveal()
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b)
  const keys = Object.keys(a)
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && isSameValue(a[key as keyof typeof a], b[key as keyof typeof b]))
  )
}
