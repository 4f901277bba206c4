const firstMs = 500
const longestMs = 60_000
/** An endpoint may ask for a longer pause, but is not waited for longer than this. */
const longestRetryAfterMs = 300_000

/**
 * How long to wait before a retry, in milliseconds. `retry` is 1 for the first one; `random` is from 0 to below 1: half of the
 * time is left to chance, so that clients that failed together do not come back together. What the endpoint asked for is kept
 * to, but never less than the first step, so that `Retry-After: 0` is no invitation to hammer.
 */
export function retryDelayMs(retry: number, random: number, retryAfterMs?: number): number {
  const scatter = 0.5 + random / 2
  if (retryAfterMs !== undefined) return Math.max(Math.min(retryAfterMs, longestRetryAfterMs), firstMs * scatter)
  return Math.min(firstMs * 2 ** (retry - 1), longestMs) * scatter
}

const weekday = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/

/** A Retry-After header, which is seconds or an HTTP-date, as milliseconds from now; undefined when it is neither. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1_000
  // asctime, the oldest form, names no zone and means GMT.
  const at = weekday.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
