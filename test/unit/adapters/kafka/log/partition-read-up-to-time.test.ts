import { describe, expect, it } from '@jest/globals'
import { FollowedPartition } from '../../../../../src/adapters/kafka/log/topic-follower.ts'

describe('the time up to which a partition is read', () => {
  const never = Number.NEGATIVE_INFINITY
  /** `3/5@10` is a fetch sent at 10 ms, after which the position is 3 and the log ends at 5. */
  it.each<[reason: string, fetches: string, asOf: number]>([
    ['is unknown before the first fetch', '', never],
    ['is that of the fetch for an empty log', '0/0@10', 10],
    ['is that of the fetch that reached the end', '5/5@10', 10],
    ['is unknown while records are left', '3/5@10', never],
    ['is that of the second fetch when that reached the end', '3/5@10 5/5@20', 20],
    ['is that of the first fetch when its end is reached, although more was appended since', '3/5@10 6/9@20', 10],
    ['then advances to the fetch in which that end was reached', '3/5@10 6/9@20 10/14@30', 20],
    ['advances with each fetch at the end of the log', '5/5@10 5/5@20 5/5@30', 30],
    ['stays when the follower falls behind', '5/5@10 7/9@20', 10],
  ])('%s', (_, fetches, asOf) => {
    const followed = new FollowedPartition(0, 0)
    for (const fetch of fetches.split(' ').filter(Boolean)) {
      const [next = 0, end = 0, at = 0] = fetch.split(/[/@]/).map(Number)
      followed.fetchedTo(next, end, at)
    }
    expect(followed.asOf).toBe(asOf)
  })

  it('is unknown after the log was truncated, until its end is reached', () => {
    const followed = new FollowedPartition(0, 0)
    followed.fetchedTo(5, 5, 10)
    followed.moveTo(0)
    followed.fetchedTo(1, 3, 20)
    expect(followed.asOf).toBe(never)
  })

  it('ignores an earlier end of the log after the log was truncated', () => {
    const followed = new FollowedPartition(0, 0)
    followed.fetchedTo(50, 100, 10)
    followed.moveTo(0)
    followed.fetchedTo(3, 3, 20)
    expect(followed).toMatchObject({ position: 3, asOf: 20 })
  })
})
