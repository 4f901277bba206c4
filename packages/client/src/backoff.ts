const minDelayMs = 500
const maxDelayMs = 60_000
/** The maximum delay that a Retry-After header can set. */
const maxRetryAfterMs = 300_000

/**
 * The delay before a retry, in milliseconds. It grows exponentially from 0.5 s to 1 min. `retry` is
 * 1 for the first retry; `random` is >= 0 and < 1. Half of the delay is random, so that clients
 * that failed together do not retry together. A Retry-After value replaces this delay, but it is
 * raised to the minimum delay and lowered to 5 minutes.
 */
export function retryDelayMs(retry: number, random: number, retryAfterMs?: number): number {
  const jitter = 0.5 + random / 2
  if (retryAfterMs !== undefined) return Math.max(Math.min(retryAfterMs, maxRetryAfterMs), minDelayMs * jitter)
  return Math.min(minDelayMs * 2 ** (retry - 1), maxDelayMs) * jitter
}
