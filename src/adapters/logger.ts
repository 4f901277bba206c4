import pino from 'pino'
import { loggable, withoutPaths } from '../core/logging/log-text.ts'
import type { AuditLog } from '../core/operator/operator-api.ts'
import type { Logger } from '../core/ports.ts'
import { logLevels } from '../core/settings/schema.ts'

export { logLevels }
export type LogLevel = (typeof logLevels)[number]

/** A logger whose level can be changed while it is in use. */
export interface LeveledLogger extends Logger {
  level: LogLevel
}

/** Made once a millisecond: while an endpoint fails, many attempts are told of in each. */
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

/** JSON lines on stderr: stdout belongs to what a command prints. What has no name of ours, and all but the origin of URLs, is withheld. */
export function createLogger(level: LogLevel): LeveledLogger {
  return createPino(level) as unknown as LeveledLogger
}

/** Lines with `"audit":true` beside those of the log. Its level is its own: no setting switches it off. */
export function createAuditLog(): AuditLog {
  const log = createPino('info')
  return fields => log.info({ audit: true, ...fields }, 'audit')
}

const createPino = (level: LogLevel) =>
  pino(
    {
      level,
      base: null,
      timestamp: createIsoTime(),
      formatters: { level: label => ({ level: label }), log: loggable },
      // Called only for lines that are written.
      hooks: {
        logMethod([facts, line, ...more], write) {
          write.call(this, facts, typeof line === 'string' ? withoutPaths(line) : line, ...more)
        },
      },
    },
    pino.destination({ fd: 2, sync: true }),
  )
