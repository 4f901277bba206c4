import { describe, expect, it } from '@jest/globals'
import { FollowedPartition } from '../../../../../src/adapters/kafka/log/follower.ts'

/** What fetches brought: where each went on, where the log ended, when it was begun. */
type Fetches = readonly (readonly [next: number, end: number, at: number])[]

describe('as of when a partition is read', () => {
  const never = Number.NEGATIVE_INFINITY
  it.each<[reason: string, fetches: Fetches, asOf: number]>([
    ['nothing was fetched', [], never],
    ['an empty log is read by the answer', [[0, 0, 10]], 10],
    ['all came at once', [[5, 5, 10]], 10],
    ['some is left: not yet', [[3, 5, 10]], never],
    [
      'the second fetch reached the end',
      [
        [3, 5, 10],
        [5, 5, 20],
      ],
      20,
    ],
    [
      'more comes than is read: the end of the first fetch is reached',
      [
        [3, 5, 10],
        [6, 9, 20],
      ],
      10,
    ],
    [
      'and then the end of the one that reached it',
      [
        [3, 5, 10],
        [6, 9, 20],
        [10, 14, 30],
      ],
      20,
    ],
    [
      'nothing new, again and again',
      [
        [5, 5, 10],
        [5, 5, 20],
        [5, 5, 30],
      ],
      30,
    ],
    [
      'it has fallen behind: what was known holds',
      [
        [5, 5, 10],
        [7, 9, 20],
      ],
      10,
    ],
  ])('%s', (_, fetches, asOf) => {
    const followed = new FollowedPartition(0, 0)
    for (const [next, end, at] of fetches) followed.fetchedTo(next, end, at)
    expect(followed.asOf).toBe(asOf)
  })

  it('drops a goal beyond the end of a truncated log', () => {
    const followed = new FollowedPartition(0, 0)
    followed.fetchedTo(50, 100, 10)
    followed.moveTo(0)
    followed.fetchedTo(3, 3, 20)
    expect(followed).toMatchObject({ position: 3, asOf: 20 })
  })
})
