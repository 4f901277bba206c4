import { createLogger } from '../adapters/logger.ts'
import type { Logger } from '../core/ports.ts'
import type { CommandIo } from './command.ts'

/** What the libraries under a short command log is of use only to whoever debugs it: HOOKLINE_DEBUG. */
export function commandLogger(io: CommandIo): Logger {
  return (io.env['HOOKLINE_DEBUG'] ?? '') === '' ? silent : createLogger('debug')
}

const ignore = (): void => {}
const silent: Logger = { isLevelEnabled: () => false, debug: ignore, info: ignore, warn: ignore, error: ignore }
