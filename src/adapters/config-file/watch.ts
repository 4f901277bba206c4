import type { Clock } from '../../core/ports.ts'
import type { ServiceName } from '../../core/settings/service-names.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { changeBetween, type SettingsChange, withLiveSettings } from '../../core/settings/settings-change.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import { type Loaded, type LoadResult, loadConfigFile, type Problem } from './config-file.ts'
import type { Environment } from './read-config-files.ts'

export interface ConfigWatch {
  /**
   * Checks the files once, now. If a check is already in progress, waits for that check instead.
   * Tests call this method instead of advancing the clock.
   */
  check(): Promise<void>
  close(): void
}

/**
 * Minimum time between two checks. With thousands of files, a check takes some tenths of a second.
 * The time until the next check is then longer, so that the checks take at most a tenth of the time:
 * `pausePerCheck` times the duration of the last check, but at most `maxIntervals` intervals.
 *
 * A change is applied at the second check that sees it. After the first one, the watch waits for one
 * interval. So a change applies after at most four intervals plus the time of two checks.
 */
const defaultInterval = durationMs(1_000)
const pausePerCheck = 10
const maxIntervals = 3

/**
 * Applies changes of the configuration files to the live settings, which are those that do not need
 * a restart.
 *
 * Each check reads the files and compares their contents. This works on every mount and for every
 * way of replacing a file: in place, by rename, and by the symlink of a ConfigMap. New content is
 * applied only when the next check reads the same content, because a half-written list of
 * destinations may be valid YAML.
 */
export function watchConfigFile(watch: {
  readonly path: string
  readonly env: Environment
  /** The settings with which the process started. The first check compares the files with them. */
  readonly start: Loaded
  /** Changes the settings of each later load, as the caller has changed those of `start`. */
  readonly override?: (settings: Settings) => Settings
  /** The services whose referenced files, such as secrets, are read. Defaults to all services. */
  readonly services?: ReadonlySet<ServiceName>
  /**
   * Called when the files change a setting, also one that needs a restart. `settings` has the live
   * settings of the new files. Its other settings have the values from the start of the process.
   */
  onChange(settings: Settings, change: SettingsChange): void
  /**
   * Called once for each new valid content of the files, before `onChange`. It is also called if
   * the content has the settings that are already in use. `change` is the difference between the
   * new settings and the settings in use.
   */
  onAccepted?(change: SettingsChange): void
  /**
   * Called once for each new content of the files in which some `destinationsFrom` files cannot be
   * used, before `onAccepted`.
   */
  onExcluded?(problems: readonly Problem[]): void
  /** Called once for each new invalid content of the files. The last valid settings stay in use. */
  onRefused(problems: readonly Problem[]): void
  readonly clock: Clock
  readonly interval?: DurationMs
}): ConfigWatch {
  const { path, env, start, override, services, clock, interval = defaultInterval } = watch
  let current = start.settings
  let loaded = start
  let reported: SettingsChange['needRestart'] = []
  let seen: { readonly result: LoadResult; handled: boolean } = { result: start, handled: true }
  let checking: Promise<void> | undefined
  let closed = false

  async function checkOnce(): Promise<void> {
    if (!(await seen.result.snapshot.unchanged())) {
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
    const settings = override?.(result.settings) ?? result.settings
    const change = changeBetween(current, settings)
    watch.onAccepted?.(change)
    const pending = change.needRestart.filter(key => !reported.includes(key))
    reported = change.needRestart
    current = withLiveSettings(current, settings)
    if (change.live.length > 0 || pending.length > 0) watch.onChange(current, change)
  }

  function check(): Promise<void> {
    checking ??= checkOnce().finally(() => {
      checking = undefined
    })
    return checking
  }

  let cancel = clock.after(interval, tick)
  function tick(): void {
    const start = clock.monotonic()
    void check().finally(() => {
      if (!closed) cancel = clock.after(pauseAfter(clock.monotonic() - start), tick)
    })
  }

  function pauseAfter(elapsedMs: number): DurationMs {
    if (!seen.handled) return interval
    return durationMs(Math.min(Math.max(interval, pausePerCheck * elapsedMs), maxIntervals * interval))
  }

  return {
    check,
    close() {
      closed = true
      cancel()
    },
  }
}
