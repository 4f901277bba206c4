import { describe, expect, it } from '@jest/globals'
import { correctSkew, parseTimestamp, toIsoTimestamp } from '../../../../src/core/message/timestamp.ts'
import { type EpochMs, epochMs } from '../../../../src/core/time.ts'

const isoOf = (value: unknown): string | undefined => {
  const parsed = parseTimestamp(value)
  return parsed === undefined ? undefined : toIsoTimestamp(parsed)
}

describe('parseTimestamp reads', () => {
  it.each([
    ['lower case', '2015-02-02t10:11:12z', '2015-02-02T10:11:12.000Z'],
    ['no offset: UTC', '2015-02-02T10:11:12', '2015-02-02T10:11:12.000Z'],
    ['no seconds', '2015-02-02T10:11Z', '2015-02-02T10:11:00.000Z'],
    ['±hh', '2015-02-02T10:11:12-03', '2015-02-02T13:11:12.000Z'],
    ['1 fraction digit', '2015-02-02T10:11:12.3Z', '2015-02-02T10:11:12.300Z'],
    ['a comma before the fraction', '2015-02-02T10:11:12,34Z', '2015-02-02T10:11:12.340Z'],
    ['a one-digit month', '2015-2-02T10:11:12Z', '2015-02-02T10:11:12.000Z'],
    ['a one-digit month and day', '2015-2-3', '2015-02-03T00:00:00.000Z'],
    ['a date only: midnight UTC', '2015-02-02', '2015-02-02T00:00:00.000Z'],
    ['the leap day of a full century', '2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['the first moment', '0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'],
    ['a two-digit year as it is', '0099-12-31T23:59:59.999Z', '0099-12-31T23:59:59.999Z'],
    ['the last moment', '9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['before 1970, fraction cut in the text', '1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z'],
    ['a number from 10^11 on: milliseconds', 100_000_000_000, '1973-03-03T09:46:40.000Z'],
    ['a number below: seconds', 99_999_999_999, '5138-11-16T09:46:39.000Z'],
    ['seconds of now', 1_447_754_426, '2015-11-17T10:00:26.000Z'],
    ['a fraction of a second: cut', 1_447_754_426.987, '2015-11-17T10:00:26.000Z'],
    ['a fraction of a millisecond: cut', 1_447_754_426_987.9, '2015-11-17T10:00:26.987Z'],
    ['a negative number: seconds', -1, '1969-12-31T23:59:59.000Z'],
    ['a small negative number: cut towards 1970', -0.5, '1970-01-01T00:00:00.000Z'],
  ])('%s', (_, value, expected) => {
    expect(isoOf(value)).toBe(expected)
  })

  it('0 and −0 as 0', () => {
    expect(parseTimestamp(0)).toBe(0)
    expect(parseTimestamp(-0)).toBe(0)
  })
})

describe('parseTimestamp rejects', () => {
  it.each([
    ['29 February of a century', '1900-02-29'],
    ['an offset of 24 hours', '2015-01-01T10:00:00+24:00'],
    ['an offset of 60 minutes', '2015-01-01T10:00:00+00:60'],
    ['year 0', '0000-12-31T23:00:00.000Z'],
    ['year 0 as UTC', '0001-01-01T00:00:00+01:00'],
    ['year 0 as written', '0000-12-31T23:30:00-01:00'],
    ['year 10000 as UTC', '9999-12-31T23:59:59-01:00'],
    ['a five-digit year', '10000-01-01T00:00:00Z'],
    ['a signed year', '+002015-01-01T00:00:00Z'],
    ['10 fraction digits', '2015-01-01T10:00:00.1234567890Z'],
    ['a point without a fraction', '2015-01-01T10:00:00.Z'],
    ['an hour alone', '2015-01-01T10Z'],
    ['a one-digit hour', '2015-01-01T1:00:00Z'],
    ['an offset on a date', '2015-01-01Z'],
    ['the basic form', '20150101T000000Z'],
    ['text around it', ' 2015-01-01T10:00:00.000Z'],
    ['a line break after it', '2015-01-01T10:00:00Z\n'],
    ['another separator after the year', '2015x01-02T10:11:12.345Z'],
    ['after the month', '2015-01x02T10:11:12.345Z'],
    ['after the day', '2015-01-02x10:11:12.345Z'],
    ['after the hour', '2015-01-02T10x11:12.345Z'],
    ['after the minute', '2015-01-02T10:11x12.345Z'],
    ['after the second', '2015-01-02T10:11:12x345Z'],
    ['after all', '2015-01-02T10:11:12.345x'],
    ['letters where digits belong', '2015-01-0xT10:00:00.000Z'],
    ['digits of another script', '２０１５-01-01T10:00:00.000Z'],
    ['RFC 2822', 'Tue, 17 Nov 2015 10:00:26 GMT'],
    ['a number in a string', '1447754426000'],
    ['words', 'yesterday'],
    ['an empty string', ''],
    ['milliseconds after 9999', 253_402_300_800_000],
    ['seconds before 0001', -62_135_596_801],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['null', null],
    ['a boolean', true],
    ['a list', [2015]],
    ['a Date', new Date(0)],
  ])('%s', (_, value) => {
    expect(parseTimestamp(value)).toBeUndefined()
  })
})

describe('correctSkew', () => {
  const received = epochMs(Date.parse('2026-11-21T12:00:00.000Z'))
  const at = (iso: string): EpochMs => epochMs(Date.parse(`2026-11-21T${iso}Z`))
  it.each([
    ['no sentAt', '11:00:00.000', undefined, '11:00:00.000'],
    ['sent 60 s ago: within what a request may take', '11:58:59.000', '11:59:00.000', '11:58:59.000'],
    ['a clock 60.001 s slow', '11:58:58.999', '11:58:59.999', '11:59:59.000'],
    ['a wrong clock, an hour before sending', '13:00:00.000', '14:00:00.000', '11:00:00.000'],
    ['a wrong clock, more than an hour before: history', '12:59:59.999', '14:00:00.000', '12:59:59.999'],
  ])('%s', (_, timestamp, sentAt, expected) => {
    const corrected = correctSkew({
      timestamp: at(timestamp),
      sentAt: sentAt === undefined ? undefined : at(sentAt),
      receivedAt: received,
    })
    expect(toIsoTimestamp(corrected)).toBe(`2026-11-21T${expected}Z`)
  })

  it('keeps the times of a historical import', () => {
    const timestamp = parseTimestamp('2012-12-02T00:30:08.276Z')!
    expect(correctSkew({ timestamp, sentAt: at('10:00:00.000'), receivedAt: received })).toBe(timestamp)
  })
})
