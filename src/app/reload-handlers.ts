import { formatProblem, type Problem } from '../adapters/config-file/config-file.ts'
import type { watchConfigFile } from '../adapters/config-file/watch.ts'
import type { LeveledLogger } from '../adapters/logger-and-audit-log.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { Logger } from '../core/ports.ts'
import type { Composition } from './compose/compose.ts'

type Reloaded = Pick<Composition, 'apply' | 'noteFile'> & {
  readonly metrics: Pick<Metrics, 'configReloads' | 'configReloadOk'>
}

/**
 * Returns the callbacks that apply a changed configuration to a running process, log the change,
 * and count it.
 */
export function reloadHandlers(
  { apply, noteFile, metrics }: Reloaded,
  logger: LeveledLogger,
): Pick<Parameters<typeof watchConfigFile>[0], 'onChange' | 'onAccepted' | 'onExcluded' | 'onRefused'> {
  const { configReloads, configReloadOk } = metrics
  return {
    // Sets the gauge here, not in `onChange`: if a user replaces a refused file by the last valid
    // one, the settings do not change, and `onChange` is not called.
    onAccepted({ needRestart }) {
      configReloadOk.set({}, 1)
      noteFile({ kind: 'accepted', needRestart })
    },
    onExcluded: problems => logExcluded(problems, logger),
    onChange(settings, change) {
      apply(settings)
      if (change.live.includes('log')) logger.level = settings.log.level
      configReloads.inc({ result: 'applied' })
      logger.info({ changed: change.live }, 'configuration reloaded')
      if (change.needRestart.length > 0)
        logger.warn(
          { keys: change.needRestart },
          'some changed configuration keys (see "keys") need a restart of this process; until then, it uses their previous values',
        )
    },
    onRefused(problems, stack) {
      configReloads.inc({ result: 'refused' })
      configReloadOk.set({}, 0)
      noteFile({ kind: 'refused' })
      logger.error(
        { problems: problems.map(formatProblem), ...(stack !== undefined && { stack }) },
        'configuration refused; the last valid configuration stays in use until you correct the problems',
      )
    },
  }
}

/** Logs the files of `destinationsFrom` that are invalid or missing. */
export function logExcluded(problems: readonly Problem[], logger: Pick<Logger, 'error'>): void {
  logger.error(
    { problems: problems.map(formatProblem) },
    'some files of destinationsFrom are invalid or missing (see "problems"); their destinations may be paused or miss messages; correct the files, and do not restart this process until the files are valid (see the runbook HooklineDestinationsExcluded)',
  )
}
