import { describe, expect, it } from '@jest/globals'
import {
  countText,
  countWithNoun,
  partOfTotalText,
  rateText,
} from '../../../../packages/console/src/components/number-text.ts'
import { labelOf, toneOf } from '../../../../packages/console/src/components/state-colours-and-labels.ts'
import {
  durationText,
  isoOfInput,
  localInput,
  localTime,
  utcTime,
} from '../../../../packages/console/src/components/time-text-and-input-values.ts'

describe('a time', () => {
  it('in UTC has its milliseconds', () => {
    expect(utcTime('2026-11-26T02:12:45.120Z')).toBe('2026-11-26 02:12:45.120 UTC')
  })

  it('that is not valid stays as it is', () => {
    expect([localTime('soon'), utcTime('soon')]).toEqual(['soon', 'soon'])
  })

  it('of a field has the precision of a minute, and survives the way through the zone of the user', () => {
    const at = Date.parse('2026-03-29T01:30:00.000Z')
    expect(isoOfInput(localInput(at))).toBe('2026-03-29T01:30:00.000Z')
    expect([isoOfInput(''), isoOfInput('x')]).toEqual([undefined, undefined])
  })
})

describe('a duration', () => {
  it.each([
    [0, '0 ms'],
    [999.4, '999 ms'],
    [1000, '1 s'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [93_784_000, '1 d 2 h'],
  ])('%d ms is %s', (ms, text) => expect(durationText(ms)).toBe(text))
})

describe('a number', () => {
  it.each([
    [countText(12_345), '12,345'],
    [rateText(3.46), '3.5'],
    [rateText(812.4), '812'],
    [countWithNoun(1, 'record'), '1 record'],
    [countWithNoun(2, 'record'), '2 records'],
    [partOfTotalText(['a', 'b'], 5_000), '2 of 5,000'],
  ])('%s', (text, expected) => expect(text).toBe(expected))
})

it.each<[string, Parameters<typeof partOfTotalText>]>([
  ['a whole list', [['a', 'b'], 2]],
  ['a list of an older operator service', [['a', 'b'], undefined]],
  ['an absent list', [undefined, undefined]],
])('%s has no part of a total', (_, given) => expect(partOfTotalText(...given)).toBeUndefined())

describe('a state', () => {
  it.each([
    ['enabled', 'ok', 'enabled'],
    ['open', 'bad', 'open'],
    ['dead_lettered', 'bad', 'dead-lettered'],
    ['of_a_later_version', 'plain', 'of a later version'],
  ])('%s', (state, tone, label) => expect([toneOf(state), labelOf(state)]).toEqual([tone, label]))
})
