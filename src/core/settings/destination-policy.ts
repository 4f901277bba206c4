import { z } from 'zod'
import { duration, oneOf } from './value-types.ts'

/**
 * The key `policy` of a destination: settings that override the global ones for it. All have
 * effect without a restart.
 */
export const policy = z.strictObject({
  timeout: duration
    .optional()
    .describe('Timeout of one request, at most `delivery.timeout`. Absent: the value of `delivery.timeout`.'),
  schedule: z
    .array(duration)
    .optional()
    .describe(
      'Waits before the second, third and further attempts, each at least 10s or the shortest wait of `delivery.schedule`. Absent: the value of `delivery.schedule`.',
    ),
  window: duration
    .optional()
    .describe(
      'Retry window, at most `delivery.window`. It applies to events that are read after the change. Absent: the value of `delivery.window`.',
    ),
  ordering: oneOf(['key', 'none'])
    .optional()
    .describe(
      '`key`: first attempts for one user are made in order. `none`: in any order. Absent: the value of `delivery.ordering`.',
    ),
  ratePerSecond: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe(
      'Maximum number of attempts per second of the whole installation, spread evenly over the second. Each webhook of the destination gets one request per attempt. Absent: no limit.',
    ),
  maxConcurrency: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe(
      'Maximum number of concurrent requests of the whole installation to each webhook of the destination. The processes share this number. If it is less than `topics.partitions`, a process may get no part of it, and then leaves its attempts to other processes, which delays these attempts by at least 10s. Absent: only the limits of `delivery` apply.',
    ),
  standardWebhooks: z
    .boolean()
    .optional()
    .describe(
      '`true`: requests also have the Standard Webhooks headers. Requires a shared secret, or `signing: ed25519`. Absent: the value of `payload.standardWebhooks`.',
    ),
  signing: oneOf(['hmac', 'ed25519'])
    .optional()
    .describe(
      'How the Standard Webhooks headers are signed. `hmac`: with each shared secret. `ed25519`: with each private key of `signingKey`, and also with each shared secret if there is one. Absent: `hmac`.',
    ),
})
