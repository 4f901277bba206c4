import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Logger } from '../../core/ports.ts'

/** Wraps a logger to count its warnings and errors. */
export function countLogLines(logger: Logger, metrics: Metrics): Logger {
  return {
    isLevelEnabled: level => logger.isLevelEnabled(level),
    debug: (fields, line) => logger.debug(fields, line),
    info: (fields, line) => logger.info(fields, line),
    warn: (fields, line) => {
      metrics.logLines.inc({ level: 'warn' })
      logger.warn(fields, line)
    },
    error: (fields, line) => {
      metrics.logLines.inc({ level: 'error' })
      logger.error(fields, line)
    },
  }
}
