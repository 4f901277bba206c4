import { z } from 'zod'
import { oneOf } from './value-types.ts'

/** The key `delivery.attemptsTopic` of the configuration. */
export const attemptsTopic = z
  .union([oneOf(['failures', 'all', 'off']), z.boolean()], {
    error: ({ input }) => (input === undefined || input === null ? undefined : 'must be "failures", "all" or "off"'),
  })
  .prefault('failures')
  .transform(value => (typeof value === 'string' ? value : value ? 'all' : 'off'))
  .describe(
    'Which attempts Hookline records in the topic `<prefix>.attempts`, for `hookline message`, `hookline tail` and the operator API. `failures`: each failed attempt, and each success of a retry, a replay or a resend. `all`: all attempts. `off`: none. The deprecated values `true` and `false` mean `all` and `off`. Under load, records of some attempts may be missing.',
  )

/**
 * Which attempts are recorded. `failures`: each failed attempt, and each success that follows a
 * failure, or that belongs to a replay or resend.
 */
export type RecordedAttempts = z.output<typeof attemptsTopic>
