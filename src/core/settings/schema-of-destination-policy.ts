import { z } from 'zod'
import { duration, oneOf } from './value-types.ts'

/**
 * The key `policy` of a destination. It overrides `delivery` and `payload`. Changes of a policy
 * apply without a restart.
 */
export const policy = z.strictObject({
  timeout: duration
    .optional()
    .describe('Timeout of one request, at most `delivery.timeout`. Absent: the value of `delivery.timeout`.'),
  schedule: z
    .array(duration)
    .optional()
    .describe(
      'Waits before the second, third and further attempts. The minimum wait is 10s, or the shortest wait of `delivery.schedule` if that is below 10s. Absent: the value of `delivery.schedule`.',
    ),
  window: duration
    .optional()
    .describe(
      'Retry window, at most `delivery.window`. A change applies only to events that Hookline first reads after the change. Absent: the value of `delivery.window`.',
    ),
  ordering: oneOf(['key', 'none'])
    .optional()
    .describe(
      '`key`: for each user, Hookline makes the first attempt of each event in the order of the events in Kafka. `none`: in any order. Absent: the value of `delivery.ordering`.',
    ),
  ratePerSecond: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe(
      'Maximum number of attempts per second for this destination, for all processes together. Hookline spreads the attempts evenly over the second. The limit counts attempts, not requests: an attempt sends one request to each webhook. Absent: no limit.',
    ),
  maxConcurrency: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe(
      'Maximum number of concurrent requests that all processes together send to each webhook of the destination. Use at least `topics.partitions`: a lower limit can delay some deliveries by 10s or more. Absent: only the limits of `delivery` apply.',
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
      'How Hookline makes the signatures in the Standard Webhooks headers. `hmac`: an HMAC for each shared secret. `ed25519`: an Ed25519 signature for each private key of `signingKey`, and also an HMAC for each shared secret. Absent: `hmac`.',
    ),
})
