import type { Logger } from '../ports.ts'

/**
 * Returns a function to call after each write of one kind, with its `error`, if any. It logs only
 * the first of several consecutive failures, as a warning with `text`.
 */
export function createFirstFailureLog(logger: Pick<Logger, 'warn'>, text: string) {
  let isFailing = false
  return (fields: object, error: string | undefined): void => {
    if (error !== undefined && !isFailing) logger.warn({ ...fields, error }, text)
    isFailing = error !== undefined
  }
}
