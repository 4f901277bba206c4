import { formatProblem, type Problem } from '../adapters/config-file/config-file.ts'
import type { watchConfigFile } from '../adapters/config-file/watch.ts'
import type { LeveledLogger } from '../adapters/logger.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { Logger } from '../core/ports.ts'
import type { Composition } from './compose/compose.ts'

type Reloaded = Pick<Composition, 'apply' | 'noteFile'> & {
  readonly metrics: Pick<Metrics, 'configReloads' | 'configReloadOk'>
}

/** What a running process does with a changed configuration, and how it tells of it. */
export function reloading(
  { apply, noteFile, metrics }: Reloaded,
  logger: LeveledLogger,
): Pick<Parameters<typeof watchConfigFile>[0], 'onChange' | 'onAccepted' | 'onExcluded' | 'onRefused'> {
  const { configReloads, configReloadOk } = metrics
  return {
    // Also when a refused file was put back as it had been, so that nothing is to be taken over.
    onAccepted({ needRestart }) {
      configReloadOk.set({}, 1)
      noteFile({ kind: 'accepted', needRestart })
    },
    onExcluded: problems => logExcluded(problems, logger),
    onChange(settings, change) {
      apply(settings)
      if (change.live.includes('log')) logger.level = settings.log.level
      configReloads.inc({ result: 'applied' })
      logger.info({ changed: change.live }, 'configuration taken over')
      if (change.needRestart.length > 0) logger.warn({ keys: change.needRestart }, 'these changes need a restart')
    },
    onRefused(problems) {
      configReloads.inc({ result: 'refused' })
      configReloadOk.set({}, 0)
      noteFile({ kind: 'refused' })
      logger.error({ problems: problems.map(formatProblem) }, 'configuration refused; the last good one stays')
    },
  }
}

/** Files of `destinationsFrom` that cannot be used or are missing, at the start or after a change. */
export function logExcluded(problems: readonly Problem[], logger: Pick<Logger, 'error'>): void {
  logger.error(
    { problems: problems.map(formatProblem) },
    'files of destinationsFrom excluded; everything else is in use',
  )
}
