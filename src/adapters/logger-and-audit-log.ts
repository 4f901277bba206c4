import pino from 'pino'
import { loggable, withoutPaths } from '../core/logging/redact-log-fields.ts'
import type { AuditLog } from '../core/operator/audit-log.ts'
import type { Logger } from '../core/ports.ts'
import { logLevels } from '../core/settings/schema-of-configuration.ts'
import { createStderrLines } from './stderr-lines.ts'

export { logLevels }
export type LogLevel = (typeof logLevels)[number]

/** A logger whose level can change at runtime. */
export interface LeveledLogger extends Logger {
  level: LogLevel
}

/**
 * Formats the time once per millisecond: while an endpoint fails, many lines have the same time.
 */
function createIsoTime(): () => string {
  let at = 0
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== at) text = `,"time":"${new Date(now).toISOString()}"`
    at = now
    return text
  }
}

/**
 * Creates a logger. Fields that are not on the allow-list in `redact-log-fields.ts` become `***`,
 * and URLs are cut to their origin, because they may contain secrets.
 */
export function createLogger(level: LogLevel): LeveledLogger {
  return createPino(level) as unknown as LeveledLogger
}

/** Creates the audit log: lines with `"audit":true` on stderr, which no setting switches off. */
export function createAuditLog(): AuditLog {
  const log = createPino('info')
  return fields =>
    log.info({ audit: true, ...fields }, 'audit: a request of an operator; see "key", "action" and "result"')
}

function createPino(level: LogLevel): pino.Logger {
  const log = pino(
    {
      level,
      base: null,
      timestamp: createIsoTime(),
      formatters: { level: label => ({ level: label }), log: loggable },
      // pino calls this hook only for lines that it writes. Other lines skip `withoutPaths`.
      hooks: {
        logMethod([facts, line, ...more], write) {
          write.call(this, facts, typeof line === 'string' ? withoutPaths(line) : line, ...more)
        },
      },
    },
    createStderrLines(lost =>
      log.error(
        lost,
        'this process lost some log lines (their number: see "count"), because it could not write them to stderr (see "error"): check the disk, or the program that receives the log',
      ),
    ),
  )
  return log
}
