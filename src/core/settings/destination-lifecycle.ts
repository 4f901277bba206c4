import { z } from 'zod'
import { duration, oneOf } from './value-types.ts'

/** The key `lifecycle` of a destination: what follows when it is paused, and when its endpoints fail. */
export const lifecycle = z.strictObject({
  disableAfter: duration
    .optional()
    .describe(
      'Disables the destination when no attempt has succeeded for this time, and at least 20 have failed in it; for example `72h`. Requires `operator.encryptionKeyFile`. Absent: never.',
    ),
  onGone: oneOf(['notify', 'disable'])
    .default('notify')
    .describe(
      '`disable`: disables the destination when all its webhooks have responded with 410 Gone and none has accepted an event since. Requires `operator.encryptionKeyFile`. `notify`: only a log line, a metric and, with `notices`, a notice.',
    ),
  pauseKeepsWindow: z
    .boolean()
    .default(false)
    .describe(
      '`true`: the time for which a delivery waits because the destination is paused does not count towards its retry window, up to 48h in all.',
    ),
})
