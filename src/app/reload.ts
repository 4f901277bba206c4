import type { watchConfigFile } from '../adapters/config-file/watch.ts'
import { formatProblem } from '../adapters/config-file.ts'
import type { LeveledLogger } from '../adapters/logger.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Composition } from './compose.ts'

type Reloaded = Pick<Composition, 'apply' | 'noteFile'> & {
  readonly metrics: Pick<Metrics, 'configReloads' | 'configReloadOk'>
}

/** What a running process does with a changed configuration, and how it tells of it. */
export function reloading(
  { apply, noteFile, metrics }: Reloaded,
  logger: LeveledLogger,
): Pick<Parameters<typeof watchConfigFile>[0], 'onChange' | 'onAccepted' | 'onRefused'> {
  const { configReloads, configReloadOk } = metrics
  return {
    // Also when a refused file was put back as it had been, so that nothing is to be taken over.
    onAccepted({ needRestart }) {
      configReloadOk.set({}, 1)
      noteFile({ kind: 'accepted', needRestart })
    },
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
