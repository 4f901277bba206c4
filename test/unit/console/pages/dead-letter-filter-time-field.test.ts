import { expect, it } from '@jest/globals'
import { inputOf, timeOf } from '../../../../packages/console/src/pages/dead-letters/dead-letter-filters.ts'

it('the field of a time that it cannot show is empty', () => {
  expect([inputOf(undefined), inputOf('24h'), inputOf('soon')]).toEqual(['', '', ''])
})

it('a time that the user has not edited does not change', () => {
  const precise = '2026-01-01T00:00:07.5Z'
  expect([timeOf('', '24h'), timeOf(inputOf(precise), precise)]).toEqual(['24h', precise])
  expect(timeOf(inputOf('2026-02-01T00:00:00Z'), precise)).toBe('2026-02-01T00:00:00.000Z')
  expect(timeOf('', precise)).toBeUndefined()
})
