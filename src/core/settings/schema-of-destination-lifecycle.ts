import { z } from 'zod'
import { duration, oneOf } from './value-types.ts'

/** The key `lifecycle` of a destination: effects of a pause and of failing endpoints. */
export const lifecycle = z.strictObject({
  disableAfter: duration
    .optional()
    .describe(
      'Hookline disables the destination when all its attempts have failed for this time, for example `72h`, and at least 20 attempts have failed in this time. Hookline ignores failures with `http_429`, `auth`, `proxy`, `internal` or `blocked_address`. Requires `operator.encryptionKeyFile`. Absent: failures never disable the destination.',
    ),
  onGone: oneOf(['notify', 'disable'])
    .default('notify')
    .describe(
      '`disable`: Hookline disables the destination when all its webhooks have responded with 410 Gone, and none has accepted an event afterwards. Requires `operator.encryptionKeyFile`. `notify`: Hookline only reports the responses with 410 in the log, in a metric and, with `notices`, in a notice.',
    ),
  pauseKeepsWindow: z
    .boolean()
    .default(false)
    .describe(
      '`true`: Hookline extends the retry window of a delivery by the time that the delivery waits during pauses of the destination, at most 48h in total.',
    ),
})
