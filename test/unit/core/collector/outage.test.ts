import { describe, expect, it } from '@jest/globals'
import { Outage } from '../../../../src/core/collector/outage.ts'

type Step = readonly ['tried' | 'failed' | 'acknowledged', at: number]

function after(steps: readonly Step[]): Outage {
  const outage = new Outage()
  for (const [what, at] of steps) outage[what](at)
  return outage
}

describe('whether a request is admitted', () => {
  it.each<[string, readonly Step[], number, boolean]>([
    ['nothing is known', [], 0, true],
    [
      'others are in progress',
      [
        ['tried', 0],
        ['tried', 0],
      ],
      0,
      true,
    ],
    ['nothing has failed, however long it takes', [['tried', 0]], 9_999, true],
    ['a failure', [['failed', 0]], 0, false],
    ['one a second is to see whether it still is so', [['failed', 0]], 1_000, true],
    [
      'not two',
      [
        ['failed', 0],
        ['tried', 1_000],
      ],
      1_000,
      false,
    ],
    [
      'the next one second later, whatever the result of the first',
      [
        ['failed', 0],
        ['tried', 1_000],
      ],
      2_000,
      true,
    ],
    [
      'a failed one',
      [
        ['failed', 0],
        ['tried', 1_000],
        ['failed', 1_500],
      ],
      2_499,
      false,
    ],
    [
      'a second after it',
      [
        ['failed', 0],
        ['tried', 1_000],
        ['failed', 1_500],
      ],
      2_500,
      true,
    ],
    [
      'one acknowledgement is enough',
      [
        ['failed', 0],
        ['tried', 1_000],
        ['acknowledged', 1_001],
      ],
      1_001,
      true,
    ],
    [
      'also a late one',
      [
        ['failed', 0],
        ['acknowledged', 1],
      ],
      1,
      true,
    ],
    [
      'some partitions fail: as the last answer was',
      [
        ['failed', 0],
        ['acknowledged', 1],
        ['failed', 2],
      ],
      2,
      false,
    ],
  ])('%s: %#', (_, steps, now, expected) => {
    expect(after(steps).admits(now)).toBe(expected)
  })
})

describe('how long it lasts', () => {
  it.each<[string, readonly Step[], number, object | undefined]>([
    ['all is well', [['tried', 0]], 5, undefined],
    [
      'since the first failure',
      [
        ['failed', 10],
        ['failed', 30],
      ],
      100,
      { lastedMs: 90, seenMsAgo: 70 },
    ],
    [
      'over',
      [
        ['failed', 10],
        ['acknowledged', 20],
      ],
      100,
      undefined,
    ],
    [
      'again',
      [
        ['failed', 10],
        ['acknowledged', 20],
        ['failed', 40],
      ],
      100,
      { lastedMs: 60, seenMsAgo: 60 },
    ],
  ])('%s', (_, steps, now, expected) => {
    expect(after(steps).age(now)).toEqual(expected)
  })
})
