import type { Clock } from '../../core/ports.ts'
import type { ServiceName } from '../../core/settings/service-names.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { changeBetween, type SettingsChange, withLiveSettings } from '../../core/settings/settings-change.ts'
import { wholeFile } from '../../core/settings/settings-problem.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import { formatProblem, type Loaded, type LoadResult, loadConfigFile, type Problem } from './config-file.ts'
import type { Environment } from './read-config-files.ts'

export interface ConfigWatch {
  /**
   * Checks the files once, or waits for a check in progress. Tests call this method instead of
   * advancing the clock.
   */
  check(): Promise<void>
  close(): void
}

/**
 * To limit the load, the pause before the next check is `pausePerCheck` times the duration of the
 * last check. The pause is at least one interval, and at most `maxIntervals` intervals.
 */
const defaultInterval = durationMs(1_000)
const pausePerCheck = 10
const maxIntervals = 3

/**
 * After this number of consecutive checks that find changes, the watch applies the files that have
 * not changed since the last check. Otherwise, a file that always changes would block all changes.
 */
const maxChangedChecks = 3

/**
 * Applies changed configuration files while the process runs. Applies them only after two checks
 * have read the same content, because half-written YAML may be valid.
 */
export function watchConfigFile(watch: {
  readonly path: string
  readonly env: Environment
  /** The settings at the start of the process. */
  readonly start: Loaded
  /** Applied to the settings of each later load. The caller has already applied it to `start`. */
  readonly override?: (settings: Settings) => Settings
  /** The services whose referenced files, for example secrets, are read. Default: all services. */
  readonly services?: ReadonlySet<ServiceName>
  /**
   * Called when a setting changes, even a setting that needs a restart. In `settings`, only the
   * settings that need no restart have new values.
   */
  onChange(settings: Settings, change: SettingsChange): void
  /**
   * Called once for each new valid content, before `onChange`, even if it does not change the
   * settings. `change` is the difference from the settings in use.
   */
  onAccepted?(change: SettingsChange): void
  /**
   * Called once for each new content with unusable `destinationsFrom` files, before `onAccepted`.
   */
  onExcluded?(problems: readonly Problem[]): void
  /**
   * Called once for each new invalid content, or after a bug in Hookline. After a bug, `stack` is
   * the stack trace without the error's message, which may contain configuration text.
   */
  onRefused(problems: readonly Problem[], stack?: string): void
  readonly clock: Clock
  readonly interval?: DurationMs
}): ConfigWatch {
  const { path, env, start, override, services, clock, interval = defaultInterval } = watch
  let current = start.settings
  let loaded = start
  let reported: SettingsChange['needRestart'] = []
  let lastLoad: { readonly result: LoadResult; handled: boolean } = { result: start, handled: true }
  const problemsToReport = createProblemFilter()
  let isBugReported = false
  /** Whether the current settings were applied without an error. */
  let isApplied = true
  /** Consecutive checks, including the last one, that found changed files. */
  let changedChecks = 0
  /**
   * Whether the next check must confirm a change or a problem that the last check found. The pause
   * before the next check is then `interval`, not longer.
   */
  let isPending = false

  async function checkOnce(isClosed: () => boolean): Promise<void> {
    isPending = false
    let isLoaded = false
    try {
      await loadChanged()
      isLoaded = true
      if (lastLoad.handled || isPending || isClosed()) return
      lastLoad.handled = true
      handle(lastLoad.result)
    } catch (error) {
      changedChecks = 0
      // After a failed load, `lastLoad` still has the result for the earlier content. If the files
      // get the earlier content again, a check must handle this result again.
      lastLoad.handled = isLoaded
      reportBug(error)
    }
  }

  async function loadChanged(): Promise<void> {
    const { unchanged, isPartial, digests } = lastLoad.result.snapshot
    const isUnchanged = await unchanged()
    changedChecks = isUnchanged ? 0 : changedChecks + 1
    if (isUnchanged && !isPartial()) return
    const lastDigests = isPartial() || changedChecks >= maxChangedChecks ? digests : undefined
    lastLoad = { result: await loadConfigFile(path, env, loaded, services, lastDigests), handled: false }
    isPending = lastDigests === undefined
  }

  /**
   * Reports an unexpected error (a bug) as a problem of the configuration file, and lets the
   * process continue: one team's file may trigger the bug, but all teams use the process.
   */
  function reportBug(error: unknown): void {
    if (!isBugReported) watch.onRefused([problemOfBug(path)], framesOf(error))
    isBugReported = true
  }

  function handle(result: LoadResult): void {
    const { problems, hasWithheldProblem } = problemsToReport(result)
    isPending = hasWithheldProblem
    if (result.kind === 'refused') {
      isBugReported = false
      if (problems.length > 0) watch.onRefused(problems)
      return
    }
    loaded = result
    if (problems.length > 0) watch.onExcluded?.(problems)
    const settings = override?.(result.settings) ?? result.settings
    const change = changeBetween(current, settings, services)
    isBugReported = false
    watch.onAccepted?.(change)
    const pending = change.needRestart.filter(key => !reported.includes(key))
    reported = change.needRestart
    current = withLiveSettings(current, settings)
    if (isApplied && change.live.length === 0 && pending.length === 0) return
    isApplied = false
    watch.onChange(current, change)
    isApplied = true
  }

  return repeatChecks({ clock, interval, checkOnce, isPending: () => isPending })
}

/** Repeats the checks, each after a pause. `isPending` shortens the pause to `interval`. */
function repeatChecks({
  clock,
  interval,
  checkOnce,
  isPending,
}: {
  readonly clock: Clock
  readonly interval: DurationMs
  checkOnce(isClosed: () => boolean): Promise<void>
  isPending(): boolean
}): ConfigWatch {
  let checking: Promise<void> | undefined
  let closed = false

  function check(): Promise<void> {
    checking ??= checkOnce(() => closed).finally(() => {
      checking = undefined
    })
    return checking
  }

  let cancel = clock.after(interval, tick)
  function tick(): void {
    const start = clock.monotonic()
    void check().finally(() => {
      const pause = isPending() ? interval : pauseAfter(clock.monotonic() - start, interval)
      if (!closed) cancel = clock.after(pause, tick)
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

/**
 * Creates a filter for the problems of a load. It returns all problems of a complete result. In a
 * partial result, changed files count as unreadable, so a new problem may be temporary. The filter
 * then returns only problems that the previous result had too, and none if the previous call found
 * the same ones.
 * `hasWithheldProblem` is true if the filter withholds a problem until the next result.
 */
function createProblemFilter() {
  let lastProblems: readonly string[] = []
  let lastReport = ''
  return ({ problems, snapshot }: LoadResult): { problems: readonly Problem[]; hasWithheldProblem: boolean } => {
    const isPartial = snapshot.isPartial()
    const lasting = problems.filter(problem => !isPartial || lastProblems.includes(formatProblem(problem)))
    lastProblems = problems.map(formatProblem)
    const report = lasting.map(formatProblem).join()
    const isRepeated = isPartial && report === lastReport
    lastReport = report
    return { problems: isRepeated ? [] : lasting, hasWithheldProblem: lasting.length < problems.length }
  }
}

/** The stack without the message, which may contain text of the configuration. */
function framesOf(error: unknown): string {
  const { stack = '' } = error instanceof Error ? error : {}
  const lines = stack.split('\n').filter(line => /^ +at /.test(line))
  return lines.join('\n')
}

function pauseAfter(elapsedMs: number, interval: DurationMs): DurationMs {
  return durationMs(Math.min(Math.max(interval, pausePerCheck * elapsedMs), maxIntervals * interval))
}

const problemOfBug = (file: string): Problem => ({
  ...{ file, line: 1, column: 1, path: wholeFile },
  message: 'could not be loaded or applied because of a bug in Hookline',
  hint: 'undo the last change of the configuration, and report the bug',
})
