import { type EpochMs, epochMs } from '../time.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/**
 * One cycle of the Gregorian calendar (400 years, 146,097 days). It is added to each year, because
 * `Date.UTC` reads the years 0 to 99 as 1900 to 1999.
 */
const cycle = { years: 400, ms: 146_097 * dayMs }
const earliest = Date.UTC(1 + cycle.years, 0, 1) - cycle.ms
const latest = Date.UTC(10_000, 0, 1) - 1
/** Smaller numbers are read as seconds. In milliseconds, this number is a time in 1973. */
const minMilliseconds = 1e11

/**
 * Parses ISO 8601, or a number of milliseconds (from 10^11 on) or seconds. Not valid: 24:00, :60
 * and years outside 0001 to 9999.
 */
export function parseTimestamp(value: unknown): EpochMs | undefined {
  if (typeof value === 'string') return parseUsual(value) ?? parseIso(value)
  if (typeof value !== 'number') return undefined
  const whole = Math.trunc(value)
  return inRange(whole >= minMilliseconds ? whole : whole * 1_000)
}

/** Whether a value is an integer number of milliseconds in the years 0001 to 9999. */
export const isTimestamp = (value: unknown): value is EpochMs =>
  typeof value === 'number' && Number.isInteger(value) && value >= earliest && value <= latest

/**
 * Returns `undefined` for NaN and for times outside the years 0001 to 9999. Adding 0 turns −0 into
 * 0.
 */
const inRange = (ms: number): EpochMs | undefined => (isTimestamp(ms) ? epochMs(ms + 0) : undefined)

/**
 * Parses `2015-02-02T10:00:00.000Z`, the form of nearly every SDK, ten times faster than
 * `parseIso`.
 */
function parseUsual(text: string): EpochMs | undefined {
  const usual =
    text.length === 24 &&
    text[4] === '-' &&
    text[7] === '-' &&
    text[10] === 'T' &&
    text[13] === ':' &&
    text[16] === ':' &&
    text[19] === '.' &&
    text[23] === 'Z'
  if (!usual) return undefined
  const day = startOfDay(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10))
  return inRange(
    day + timeOfDay(digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19), digits(text, 20, 23)),
  )
}

/** Parses the decimal digits from `from` to `to` (exclusive). NaN for any other text. */
function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let index = from; index < to; index += 1) {
    const digit = text.charCodeAt(index) - 48
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

const isoPattern =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?)?$/

function parseIso(text: string): EpochMs | undefined {
  const match = isoPattern.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '', sign, offsetHour = 0, offsetMinute = 0] =
    match
  // The fraction is truncated, because rounding could move an event into the next day.
  const millisecond = fraction.slice(0, 3).padEnd(3, '0')
  const offset = timeOfDay(Number(offsetHour), Number(offsetMinute), 0, 0)
  const local =
    startOfDay(Number(year), Number(month), Number(day)) +
    timeOfDay(Number(hour), Number(minute), Number(second), Number(millisecond))
  return inRange(sign === '-' ? local + offset : local - offset)
}

/** The start of a day, in milliseconds since 1970; NaN if the date does not exist. */
function startOfDay(year: number, month: number, day: number): number {
  const exists = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
  return exists ? Date.UTC(year + cycle.years, month - 1, day) - cycle.ms : Number.NaN
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Milliseconds since the start of the day, NaN for an impossible time, 24:00 or :60. */
function timeOfDay(hour: number, minute: number, second: number, millisecond: number): number {
  const exists = hour <= 23 && minute <= 59 && second <= 59
  return exists ? hour * hourMs + minute * minuteMs + second * 1_000 + millisecond : Number.NaN
}

/**
 * Maximum clock skew, in ms, that is not corrected, because it may be the travel time of the
 * request.
 */
const toleratedSkewMs = minuteMs
/**
 * Maximum age, in ms, of a live message when it was sent. An older message is historical data,
 * which keeps its timestamp.
 */
const liveWithinMs = hourMs

/**
 * Corrects the timestamp of a live message if the sender's clock is wrong by more than
 * `toleratedSkewMs`.
 */
export function correctSkew(times: {
  readonly timestamp: EpochMs
  readonly sentAt: EpochMs | undefined
  readonly receivedAt: EpochMs
}): EpochMs {
  const { timestamp, sentAt, receivedAt } = times
  if (sentAt === undefined || Math.abs(receivedAt - sentAt) <= toleratedSkewMs) return timestamp
  const age = sentAt - timestamp
  return Math.abs(age) <= liveWithinMs ? epochMs(receivedAt - age) : timestamp
}

/** Formats a time of the years 0001 to 9999 as ISO 8601 in UTC with milliseconds. */
export function toIsoTimestamp(ms: EpochMs): string {
  const inMinute = ms - lastMinute.from
  if (!(inMinute >= 0 && inMinute < minuteMs)) {
    const from = Math.floor(ms / minuteMs) * minuteMs
    lastMinute = { from, text: new Date(from).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:'.length) }
    return toIsoTimestamp(ms)
  }
  // The sum has six digits, so the last five digits keep their leading zeros.
  const digits = String(100_000 + inMinute)
  return `${lastMinute.text}${digits.slice(1, 3)}.${digits.slice(3)}Z`
}

/** The last formatted minute, used again because formatting the date takes most of the time. */
let lastMinute = { from: Number.NaN, text: '' }

/**
 * Formats a time as ISO 8601 in UTC. A number outside the range of `Date` becomes its digits:
 * another program may have written the number to Kafka.
 */
export function isoOf(time: EpochMs): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}
