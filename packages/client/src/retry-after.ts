const weekday = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/

/** Parses a Retry-After header (seconds or an HTTP date) to milliseconds from `now`. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1_000
  // The asctime form of an HTTP date has no time zone; it is in GMT.
  const at = weekday.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
