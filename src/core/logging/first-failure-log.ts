import type { Logger } from '../ports.ts'

/**
 * Returns a function to call after each write, with its `error`, if any. It logs only the first of
 * consecutive failures.
 */
export function createFirstFailureLog(logger: Pick<Logger, 'warn'>, text: string) {
  let isFailing = false
  return (fields: object, error: string | undefined): void => {
    if (error !== undefined && !isFailing) logger.warn({ ...fields, error }, text)
    isFailing = error !== undefined
  }
}
