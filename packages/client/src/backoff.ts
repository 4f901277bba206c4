const minDelayMs = 500
const maxDelayMs = 60_000
/** The maximum delay, in milliseconds, that a Retry-After header can set. */
const maxRetryAfterMs = 300_000

/**
 * Returns the delay before a retry in milliseconds. `retry` is 1 for the first retry;
 * 0 <= `random` < 1. Half of the delay is random, so that clients that failed together do not retry
 * together. `Retry-After` can only make the delay longer.
 */
export function retryDelayMs(retry: number, random: number, retryAfterMs = 0): number {
  const backoffMs = Math.min(minDelayMs * 2 ** (retry - 1), maxDelayMs) * (0.5 + random / 2)
  return Math.max(Math.min(retryAfterMs, maxRetryAfterMs), backoffMs)
}
