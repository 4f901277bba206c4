import { beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type Loaded, loadConfigFile } from '../../../src/adapters/config-file/config-file.ts'
import { watchConfigFile } from '../../../src/adapters/config-file/watch.ts'
import type { LogLevel } from '../../../src/adapters/logger-and-audit-log.ts'
import { reloadHandlers } from '../../../src/app/reload-handlers.ts'
import type { ReloadState } from '../../../src/core/health.ts'
import { loggable } from '../../../src/core/logging/redact-log-fields.ts'
import type { Settings } from '../../../src/core/settings/settings.ts'
import { liveKeys } from '../../../src/core/settings/settings-change.ts'
import { changed, changes } from '../../support/config/configuration-file-mutations.ts'
import {
  type Content,
  configurations,
  environment,
  type InstalledConfiguration,
  installed,
  textOf,
} from '../../support/config/example-configurations.ts'
import { revealed } from '../../support/config/reveal-configuration-secrets.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { countingMetrics } from '../../support/telemetry/counting-metrics.ts'
import { type Line, RecordingLogger } from '../../support/telemetry/recording-logger.ts'

const original = configurations['full'] as string
let installation: InstalledConfiguration
let start: Loaded
beforeAll(async () => {
  installation = await installed(original)
  start = (await loadConfigFile(installation.path, environment)) as Loaded
})

async function started() {
  const { settings } = start
  const counts = new Map<string, number>()
  const logger = Object.assign(new RecordingLogger(), { level: settings.log.level as LogLevel })
  const state = { settings, file: { kind: 'accepted', needRestart: [] } as ReloadState }
  const composition = {
    metrics: countingMetrics(counts),
    apply(next: Settings) {
      state.settings = next
    },
    noteFile(file: ReloadState) {
      state.file = file
    },
  }
  const clock = new ManualClock()
  const { path } = installation
  const watch = watchConfigFile({ path, env: environment, clock, start, ...reloadHandlers(composition, logger) })
  await installation.write(original)
  await watch.check()
  await watch.check()
  return { watch, logger, state, count: (key: string) => counts.get(key) ?? 0 }
}
type Running = Awaited<ReturnType<typeof started>>

/**
 * Writes and reloads the configuration file. The watch applies a content that two checks in
 * succession have found.
 */
async function reload({ watch, state, logger, count }: Running, content: Content): Promise<'taken' | 'refused'> {
  const before = { ...state, refused: count('configReloads{refused}'), applied: count('configReloads{applied}') }
  logger.lines.length = 0
  await installation.write(content)
  await watch.check()
  expect({ ...state, lines: logger.lines }).toEqual({ settings: before.settings, file: before.file, lines: [] })
  await watch.check()
  const loaded = await loadConfigFile(installation.path, environment)
  if (loaded.kind === 'refused') {
    expect(state.settings).toBe(before.settings)
    expect(state.file).toEqual({ kind: 'refused' })
    expect(count('configReloads{refused}')).toBe(before.refused + 1)
    expect(count('configReloads{applied}')).toBe(before.applied)
    expect(count('configReloadOk{}')).toBe(0)
    judgeLines(logger.lines)
    return 'refused'
  }
  const replacedOnReload = [...liveKeys, 'excluded', 'entriesAsWritten'] as const
  const inUse = { ...start.settings, ...Object.fromEntries(replacedOnReload.map(key => [key, loaded.settings[key]])) }
  expect(revealed(state.settings)).toEqual(revealed(inUse))
  expect(state.file.kind).toBe('accepted')
  expect(count('configReloads{refused}')).toBe(before.refused)
  expect(count('configReloadOk{}')).toBe(1)
  const errors = logger.lines.filter(({ level }) => level === 'error').map(({ line }) => line)
  // A missing destination of an audience counts as a missing file of destinationsFrom: the
  // configuration is applied, and an error logged.
  const excluded = loaded.settings.excluded === undefined ? [] : [expect.stringMatching(/^some files of destinations/)]
  expect(errors).toEqual(errors.length === 0 ? [] : excluded)
  expect(logger.level).toBe(loaded.settings.log.level)
  return 'taken'
}

/** The only log line must have a file, line, column, path, reason and hint for each problem. */
function judgeLines(lines: readonly Line[]): void {
  expect(lines).toHaveLength(1)
  const [{ level, line, fields }] = lines as [Line]
  expect([level, line]).toEqual([
    'error',
    'configuration refused; the last valid configuration stays in use until you correct the problems',
  ])
  const problems = loggable(fields)['problems'] as readonly string[]
  expect(problems.length).toBeGreaterThan(0)
  for (const problem of problems) {
    expect(problem.startsWith(`${installation.at('')}`)).toBe(true)
    expect(problem).toMatch(/^[^:]+:\d+:\d+: [^ ].*: .+ \([^)].*\)$/s)
  }
}

it('through any sequence of files, the process uses the last valid one and logs each invalid one once', async () => {
  const counts = { taken: 0, refused: 0 }
  const base = fc.constantFrom('full' as const, 'development' as const, 'environment' as const)
  const files = fc.array(fc.tuple(base, fc.option(changes, { freq: 8 })), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(files, async edits => {
      const running = await started()
      let last = textOf(original)
      for (const [name, change] of edits) {
        const text = configurations[name] as string
        const content = change === null ? text : changed(text, change)
        // The same text again is not a new configuration.
        if (textOf(content) === last) continue
        last = textOf(content)
        counts[await reload(running, content)]++
      }
      running.watch.close()
    }),
    { numRuns: 100 },
  )
  expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(30)
})
