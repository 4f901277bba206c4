import { z } from 'zod'

/** The key `lifecycle` of a destination: what follows when it is paused. */
export const lifecycle = z.strictObject({
  pauseKeepsWindow: z
    .boolean()
    .default(false)
    .describe(
      '`true`: the time for which a delivery waits because the destination is paused does not count towards its retry window, up to 48h in all.',
    ),
})
