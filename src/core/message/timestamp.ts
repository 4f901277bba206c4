import { type EpochMs, epochMs } from '../units.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** The Gregorian calendar repeats after 400 years; Date.UTC takes the years 0 to 99 for 1900 to 1999. */
const cycle = { years: 400, ms: 146_097 * dayMs }
const earliest = Date.UTC(1 + cycle.years, 0, 1) - cycle.ms
const latest = Date.UTC(10_000, 0, 1) - 1
/** From here on a number counts milliseconds (1973 as milliseconds, the year 5138 as seconds). */
const leastMilliseconds = 1e11

/**
 * The time that a message names, in ISO 8601 or as a number (milliseconds from 10^11 on, else seconds). Undefined for
 * anything else: impossible dates, 24:00, :60, numbers in strings, years outside 0001–9999.
 */
export function parseTimestamp(value: unknown): EpochMs | undefined {
  if (typeof value === 'string') return parseUsual(value) ?? parseIso(value)
  if (typeof value !== 'number') return undefined
  const whole = Math.trunc(value)
  return inRange(whole >= leastMilliseconds ? whole : whole * 1_000)
}

/** Whether a value is whole milliseconds in the years 0001 to 9999. */
export const isTimestamp = (value: unknown): value is EpochMs =>
  typeof value === 'number' && Number.isInteger(value) && value >= earliest && value <= latest

/** NaN, which stands for an impossible date or time, is out of range too. Adding 0 turns −0 into 0. */
const inRange = (ms: number): EpochMs | undefined => (isTimestamp(ms) ? epochMs(ms + 0) : undefined)

/** `2015-02-02T10:00:00.000Z`: what nearly every SDK sends, read at a tenth of the pattern's price. */
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

/** The number written in `text[from, to)`; NaN when anything there is no digit. */
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
  // Digits beyond the milliseconds are cut, never rounded: rounding could move an event into the next day.
  const millisecond = fraction.slice(0, 3).padEnd(3, '0')
  const offset = timeOfDay(Number(offsetHour), Number(offsetMinute), 0, 0)
  const local =
    startOfDay(Number(year), Number(month), Number(day)) +
    timeOfDay(Number(hour), Number(minute), Number(second), Number(millisecond))
  return inRange(sign === '-' ? local + offset : local - offset)
}

/** NaN unless the date exists. */
function startOfDay(year: number, month: number, day: number): number {
  const exists = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
  return exists ? Date.UTC(year + cycle.years, month - 1, day) - cycle.ms : Number.NaN
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** NaN unless the time exists; 24:00 and the leap second :60 do not. */
function timeOfDay(hour: number, minute: number, second: number, millisecond: number): number {
  const exists = hour <= 23 && minute <= 59 && second <= 59
  return exists ? hour * hourMs + minute * minuteMs + second * 1_000 + millisecond : Number.NaN
}

/** A device's clock may be this far off before it is corrected: the request's own way here takes time too. */
const toleratedSkewMs = minuteMs
/** A timestamp further from its sending is no sign of a wrong clock but history, and stays exact. */
const liveWithinMs = hourMs

/** The time of a live message by our clock when its sender's clock is over 60 s off; else the timestamp as it is. */
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

/** ISO 8601 in UTC with milliseconds. `ms` is a time that `parseTimestamp` gives: years 0001 to 9999. */
export function toIsoTimestamp(ms: EpochMs): string {
  const inMinute = ms - lastMinute.from
  if (!(inMinute >= 0 && inMinute < minuteMs)) {
    const from = Math.floor(ms / minuteMs) * minuteMs
    lastMinute = { from, text: new Date(from).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:'.length) }
    return toIsoTimestamp(ms)
  }
  // From 100,000 on, every number has the leading zeros of the one that is shown.
  const digits = String(100_000 + inMinute)
  return `${lastMinute.text}${digits.slice(1, 3)}.${digits.slice(3)}Z`
}

/** Timestamps come one after the other: what the last one's minute looks like is what takes the time. */
let lastMinute = { from: Number.NaN, text: '' }
