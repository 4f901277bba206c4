import type { Logger } from '../../../src/core/ports.ts'

/** A logger for tests that do not check log lines. */
export const silent: Logger = {
  isLevelEnabled: () => false,
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
}
