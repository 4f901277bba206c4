import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const month = `(?<month>${months.join('|')})`
const time = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})'
const shortDay = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const longDay = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day'

/**
 * Patterns of the date formats IMF-fixdate, RFC 850 and asctime. A recipient must accept all of
 * them (RFC 9110 5.6.7).
 */
const httpDatePatterns = [
  `${shortDay}, (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT`,
  `${longDay}, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT`,
  `${shortDay} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})`,
].map(pattern => new RegExp(`^${pattern}$`))

/**
 * Parses an HTTP-date; `undefined` for any other text. `now` determines the century of a two-digit
 * year.
 */
function parseHttpDate(text: string, now: EpochMs): EpochMs | undefined {
  const fields = httpDatePatterns.map(pattern => pattern.exec(text)?.groups).find(groups => groups !== undefined)
  if (fields === undefined) return undefined
  const { month: name = '', year: digits = '' } = fields
  const [day, hour, minute, second] = ['day', 'hour', 'minute', 'second'].map(field => Number(fields[field])) as [
    number,
    number,
    number,
    number,
  ]
  // Second 60 is a leap second, which the grammar allows.
  if (hour > 23 || minute > 59 || second > 60) return undefined
  const year = digits.length === 2 ? nearestYear(Number(digits), new Date(now).getUTCFullYear()) : Number(digits)
  const midnight = new Date(0)
  // Date.UTC would interpret the years 0 to 99 as 1900 to 1999.
  midnight.setUTCFullYear(year, months.indexOf(name), day)
  if (midnight.getUTCDate() !== day) return undefined
  return epochMs(midnight.getTime() + ((hour * 60 + minute) * 60 + second) * 1_000)
}

/**
 * The year that ends in these two digits, between 49 years ago and 50 years ahead (RFC 9110 5.6.7).
 */
function nearestYear(lastTwoDigits: number, thisYear: number): number {
  const year = thisYear - (thisYear % 100) + lastTwoDigits
  if (year > thisYear + 50) return year - 100
  return year < thisYear - 49 ? year + 100 : year
}

/**
 * Maximum of `Retry-After` in seconds: a larger value counts as this one. HTTP caches have the same
 * limit (RFC 9111 1.2.2).
 */
const longestRetryAfterSeconds = 2 ** 31

/**
 * Parses a Retry-After header: seconds or an HTTP-date. 0 when negative or past; `undefined` when
 * malformed.
 */
export function parseRetryAfter(value: string | undefined, now: EpochMs): DurationMs | undefined {
  const text = value?.trim()
  if (text === undefined) return undefined
  if (/^-?\d+$/.test(text)) return durationMs(Math.min(Math.max(Number(text), 0), longestRetryAfterSeconds) * 1_000)
  const date = parseHttpDate(text, now)
  return date === undefined ? undefined : durationMs(Math.max(date - now, 0))
}
