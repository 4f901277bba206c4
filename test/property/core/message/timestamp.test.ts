import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { correctSkew, isTimestamp, parseTimestamp, toIsoTimestamp } from '../../../../src/core/message/timestamp.ts'
import { epochMs } from '../../../../src/core/time.ts'

const two = (value: number): string => String(value).padStart(2, '0')
const time = fc
  .integer({ min: Date.parse('0001-01-02T00:00:00Z'), max: Date.parse('9999-12-30T00:00:00Z') })
  .map(epochMs)

describe('parseTimestamp', () => {
  it('parses the output of toIsoTimestamp', () => {
    fc.assert(
      fc.property(time, ms => {
        expect(parseTimestamp(toIsoTimestamp(ms))).toBe(ms)
      }),
      { numRuns: 1_000 },
    )
  })

  it('parses one time the same at any offset, in any form, with any number of digits', () => {
    const offset = fc.record({
      sign: fc.constantFrom('+', '-'),
      hour: fc.integer({ min: 0, max: 23 }),
      minute: fc.integer({ min: 0, max: 59 }),
      colon: fc.constantFrom(':', ''),
    })
    fc.assert(
      fc.property(
        time,
        offset,
        fc.constantFrom('T', ' ', 't'),
        fc.stringMatching(/^\d{0,6}$/),
        (ms, zone, separator, more) => {
          const ahead = (zone.sign === '-' ? -1 : 1) * (zone.hour * 60 + zone.minute) * 60_000
          const local = toIsoTimestamp(epochMs(ms + ahead))
            .replace('T', separator)
            .replace('Z', more)
          expect(parseTimestamp(`${local}${zone.sign}${two(zone.hour)}${zone.colon}${two(zone.minute)}`)).toBe(ms)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('accepts exactly the existing dates and times', () => {
    const upTo = (max: number) => fc.integer({ min: 0, max })
    const fields = fc.tuple(upTo(9999), upTo(14), upTo(33), upTo(25), upTo(61), upTo(61), upTo(999))
    fc.assert(
      fc.property(fields, ([year, month, day, hour, minute, second, ms]) => {
        const text =
          `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}` +
          `T${two(hour)}:${two(minute)}:${two(second)}.${String(ms).padStart(3, '0')}Z`
        // V8 changes 30 February to 1 March, and 24:00 to the next day. A date that exists is not
        // changed.
        const date = new Date(text)
        const exists = year > 0 && !Number.isNaN(date.getTime()) && date.toISOString() === text
        expect(parseTimestamp(text)).toBe(exists ? date.getTime() : undefined)
      }),
      { numRuns: 5_000 },
    )
  })

  it('returns whole milliseconds in four-digit years or nothing, for any input', () => {
    const anything = fc.oneof(
      fc.double(),
      fc.maxSafeInteger(),
      fc.string(),
      fc.stringMatching(/^\d{4}-\d{1,2}-\d{1,2}/),
      fc.anything(),
    )
    fc.assert(
      fc.property(anything, value => {
        const parsed = parseTimestamp(value)
        if (parsed === undefined) return
        expect(isTimestamp(parsed)).toBe(true)
        expect(toIsoTimestamp(parsed)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('correctSkew', () => {
  const near = fc.integer({ min: -7_200_000, max: 7_200_000 })
  it('corrects the clock of the sender in a live message, and changes no other message', () => {
    fc.assert(
      fc.property(time, near, near, (receivedAt, skew, age) => {
        const sentAt = epochMs(receivedAt + skew)
        const timestamp = epochMs(sentAt - age)
        const corrected = correctSkew({ timestamp, sentAt, receivedAt })
        const live = Math.abs(skew) > 60_000 && Math.abs(age) <= 3_600_000
        expect(corrected).toBe(live ? timestamp - skew : timestamp)
      }),
      { numRuns: 1_000 },
    )
  })
})
