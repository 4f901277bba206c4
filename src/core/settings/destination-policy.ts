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
      'Waits before the second, third and further attempts, each at least 10s, or at least the shortest wait of `delivery.schedule` if that is less. Absent: the value of `delivery.schedule`.',
    ),
  window: duration
    .optional()
    .describe(
      'Retry window, at most `delivery.window`. A change applies to events that Hookline first reads after it. Absent: the value of `delivery.window`.',
    ),
  ordering: oneOf(['key', 'none'])
    .optional()
    .describe(
      '`key`: Hookline makes the first attempts for one user in the order of the events in Kafka. `none`: in any order. Absent: the value of `delivery.ordering`.',
    ),
  ratePerSecond: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe(
      'Maximum number of attempts per second for the destination, of all processes together and spread evenly over the second. Each webhook gets one request per attempt. Absent: no limit.',
    ),
  maxConcurrency: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe(
      'Maximum number of concurrent requests that all processes together send to each webhook of the destination. It is divided among the partitions of the events topic, and a process may use the parts of the partitions that it owns. If it is less than `topics.partitions`, a process may have no part: it defers deliveries by at least 10s, and processes with a part make the attempts. Absent: only the limits of `delivery` apply.',
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
      'How Hookline signs requests with the Standard Webhooks headers. `hmac`: with each shared secret. `ed25519`: with each private key of `signingKey`, and also with each shared secret if there is one. Absent: `hmac`.',
    ),
})
