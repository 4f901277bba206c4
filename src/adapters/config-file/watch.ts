import type { Clock } from '../../core/ports.ts'
import { changeBetween, type SettingsChange, withLiveOf } from '../../core/settings/differences.ts'
import type { ServiceName } from '../../core/settings/service-names.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'
import { type Loaded, type LoadResult, loadConfigFile, type Problem } from './config-file.ts'
import type { Environment } from './read-sources.ts'

export interface ConfigWatch {
  /** Looks once, now; one look at a time. Tests turn this instead of the clock. */
  check(): Promise<void>
  close(): void
}

/** A change is taken up at the second look that sees it: after at most two of these and the time to read. */
const defaultInterval = durationMs(1_000)

/**
 * Keeps the live part of the settings at what the files say. It reads and compares contents, which works on every mount
 * and through every way of replacing a file (in place, by rename, by the symlink of a ConfigMap). What is seen for the
 * first time is left alone until the next look sees the same: a half-written list of destinations may well parse.
 */
export function watchConfigFile(watch: {
  readonly path: string
  readonly env: Environment
  /** What the file said at the start: what has changed since then is a change, and nothing else is read anew. */
  readonly start: Loaded
  /** Whose files are read; every one's unless given. */
  readonly services?: ReadonlySet<ServiceName>
  /** `settings` have what is live of the new file and keep the rest as it was at the start. */
  onChange(settings: Settings, change: SettingsChange): void
  /** Once for each good content, before `onChange`, and also when it says what is in use already. `change`: from what is in use. */
  onAccepted?(change: SettingsChange): void
  /** Once for each content with files of `destinationsFrom` that are left out, before `onAccepted`. */
  onExcluded?(problems: readonly Problem[]): void
  /** Once for each bad content; the last good settings stay. */
  onRefused(problems: readonly Problem[]): void
  readonly clock: Clock
  readonly interval?: DurationMs
}): ConfigWatch {
  const { path, env, start, services, clock, interval = defaultInterval } = watch
  let current = start.settings
  let loaded = start
  let told: SettingsChange['needRestart'] = []
  let seen: { readonly result: LoadResult; handled: boolean } = { result: start, handled: true }
  let checking: Promise<void> | undefined
  let closed = false

  async function look(): Promise<void> {
    if (!(await seen.result.look.unchanged())) {
      seen = { result: await loadConfigFile(path, env, loaded, services), handled: false }
    } else if (!seen.handled && !closed) {
      seen.handled = true
      handle(seen.result)
    }
  }

  function handle(result: LoadResult): void {
    if (result.kind === 'refused') return watch.onRefused(result.problems)
    loaded = result
    if (result.problems.length > 0) watch.onExcluded?.(result.problems)
    const change = changeBetween(current, result.settings)
    watch.onAccepted?.(change)
    const pending = change.needRestart.filter(key => !told.includes(key))
    told = change.needRestart
    current = withLiveOf(current, result.settings)
    if (change.live.length > 0 || pending.length > 0) watch.onChange(current, change)
  }

  function check(): Promise<void> {
    checking ??= look().finally(() => {
      checking = undefined
    })
    return checking
  }

  let cancel = clock.after(interval, tick)
  function tick(): void {
    void check().finally(() => {
      if (!closed) cancel = clock.after(interval, tick)
    })
  }

  return {
    check,
    close() {
      closed = true
      cancel()
    },
  }
}
