import type { Logger } from '../ports.ts'

/**
 * Returns a function that is called with the result of each write of one kind, and logs only the
 * first of several failures in succession, as a warning with `text`. `error` is `undefined` when
 * the write succeeded.
 */
export function createFirstFailureLog(logger: Pick<Logger, 'warn'>, text: string) {
  let isFailing = false
  return (fields: object, error: string | undefined): void => {
    if (error !== undefined && !isFailing) logger.warn({ ...fields, error }, text)
    isFailing = error !== undefined
  }
}
