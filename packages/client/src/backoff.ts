const minDelayMs = 500
const maxDelayMs = 60_000
/** The maximum delay before a retry, in milliseconds, that a Retry-After header can set. */
const maxRetryAfterMs = 300_000

/**
 * The delay before a retry, in milliseconds. `retry` is 1 for the first retry; `random` is at least
 * 0 and less than 1.
 *
 * Without a Retry-After header, the delay begins at 0.25 s to 0.5 s and doubles with each retry, up
 * to 1 min. Half of it is random, so that clients that failed together do not retry together. With
 * the header, the delay is the value of the header, but at least the delay of a first retry and at
 * most 5 min.
 */
export function retryDelayMs(retry: number, random: number, retryAfterMs?: number): number {
  const jitter = 0.5 + random / 2
  if (retryAfterMs !== undefined) return Math.max(Math.min(retryAfterMs, maxRetryAfterMs), minDelayMs * jitter)
  return Math.min(minDelayMs * 2 ** (retry - 1), maxDelayMs) * jitter
}
