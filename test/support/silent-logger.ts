import type { Logger } from '../../src/core/ports.ts'

/** For tests that look at what happens, not at what is logged of it. */
export const silent: Logger = {
  isLevelEnabled: () => false,
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
}
