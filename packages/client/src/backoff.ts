const minDelayMs = 500
const maxDelayMs = 60_000
/** The maximum delay, in milliseconds, that a Retry-After header can set. */
const maxRetryAfterMs = 300_000

/**
 * The delay before a retry, in milliseconds. `retry` is 1 for the first retry. 0 <= `random` < 1.
 *
 * The backoff begins at 0.25 s to 0.5 s and doubles with each retry, up to 1 min. Half of it is
 * random, so that clients that failed together do not retry together. Retry-After can only make the
 * delay longer: with the collector's `Retry-After: 5` alone, ten retries would end after 50 s.
 */
export function retryDelayMs(retry: number, random: number, retryAfterMs = 0): number {
  const backoffMs = Math.min(minDelayMs * 2 ** (retry - 1), maxDelayMs) * (0.5 + random / 2)
  return Math.max(Math.min(retryAfterMs, maxRetryAfterMs), backoffMs)
}
