import { describe, expect, it } from '@jest/globals'
import { drainingOf } from '../recovered-endpoint-rate.ts'

describe('the backlog of an endpoint that answers again', () => {
  const isFor = (number: number): boolean => number % 2 === 1
  const of = (numbers: readonly number[], times: readonly number[]) =>
    drainingOf({ numbers, times }, { isFor, isMissed: number => isFor(number) && number < 10 })

  it('drains from its first to its last success, and counts new events of that endpoint only', () =>
    expect(of([11, 1, 2, 3, 13, 5, 7, 15], [900, 1_000, 1_001, 1_500, 1_999, 2_000, 3_000, 3_001])).toEqual({
      ...{ from: 1_000, to: 3_000, mostInASecond: 3, perSecond: 2.5 },
    }))

  it('can drain within one second', () =>
    expect(of([1, 3], [5, 5])).toMatchObject({ from: 5, to: 5, mostInASecond: 2 }))

  it('is refused when none of it came', () => expect(() => of([2, 11], [1, 2])).toThrow(RangeError))
})
