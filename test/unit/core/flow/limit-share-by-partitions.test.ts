import { describe, expect, it } from '@jest/globals'
import { DestinationRateLimit } from '../../../../src/core/flow/destination-rate-limit.ts'
import { PartitionShare } from '../../../../src/core/flow/limit-share-by-partitions.ts'

/** A process that has owned these partitions of a topic with four partitions since time 0. */
function ownerOf(...partitions: readonly number[]): PartitionShare {
  const share = new PartitionShare(0)
  share.setCount(4, 0)
  for (const partition of partitions) share.assigned(partition, 0)
  share.joined(new Set(), 0)
  return share
}

const permits = (share: PartitionShare, now: number, total: number) => share.permitsAt(now, total, 0, 5_000)

describe('the rate', () => {
  it('is the owned part of the partitions, 250 ms after their assignment', () => {
    const share = ownerOf(0, 1, 2)
    expect([share.rateAt(249), share.rateAt(250)]).toEqual([0, 0.75])
  })

  it('is 0 until the number of partitions is known', () => {
    const share = new PartitionShare(0)
    share.assigned(0, 0)
    expect(share.rateAt(1_000)).toBe(0)
    share.setCount(2, 1_000)
    expect(share.rateAt(1_000)).toBe(0.5)
  })

  it('falls when the topic has got more partitions', () => {
    const share = ownerOf(0, 1, 2, 3)
    share.setCount(8, 1_000)
    expect(share.rateAt(1_000)).toBe(0.5)
  })

  it('keeps the part of a revoked partition until the next join', () => {
    const share = ownerOf(0, 1)
    share.joined(new Set([1]), 1_000)
    share.revoked(1, 2_000)
    expect(share.rateAt(3_000)).toBe(0.5)
    share.joined(new Set(), 3_000)
    expect(share.rateAt(3_000)).toBe(0.25)
  })

  it('counts a partition once that comes back in the next join', () => {
    const share = ownerOf(0, 1)
    share.joined(new Set([1]), 1_000)
    share.revoked(1, 2_000)
    share.assigned(1, 3_000)
    share.joined(new Set(), 3_000)
    expect([share.rateAt(3_000), share.rateAt(3_250)]).toEqual([0.25, 0.5])
  })

  it('is 0 immediately when all partitions are lost', () => {
    const share = ownerOf(0, 1)
    share.joined(new Set([1]), 1_000)
    for (const partition of [0, 1]) share.revoked(partition, 2_000)
    expect([share.rateAt(2_000), share.hasNoPartitions]).toEqual([0, true])
  })

  it('falls immediately when a partition is lost without a revocation', () => {
    const share = ownerOf(0, 1)
    share.revoked(1, 1_000)
    expect(share.rateAt(1_000)).toBe(0.25)
  })

  it('adds up over time, through changes', () => {
    const share = ownerOf(0, 1)
    expect(share.secondsUntil(1_250)).toBeCloseTo(0.5)
    share.revoked(1, 1_250)
    share.setCount(2, 3_250)
    expect(share.secondsUntil(4_250)).toBeCloseTo(0.5 + 0.5 + 0.5)
  })
})

describe('the attempts of a rate', () => {
  it.each([
    ['all partitions', [0, 1, 2, 3], 50, 20],
    ['a quarter', [3], 50, 80],
    ['less than one attempt per second', [3], 1, 4_000],
  ])('%s', (_, partitions, perSecond, everyMs) => {
    const share = ownerOf(...partitions)
    const budget = new DestinationRateLimit()
    expect(budget.msToWait(share, perSecond, 10_000)).toBe(0)
    for (; budget.msToWait(share, perSecond, 10_000) === 0; ) budget.started()
    const wait = budget.msToWait(share, perSecond, 10_000)
    expect(wait).toBeLessThanOrEqual(everyMs)
    expect(budget.msToWait(share, perSecond, 10_001 + wait)).toBe(0)
    budget.started()
    expect(budget.msToWait(share, perSecond, 10_001 + wait)).toBeCloseTo(everyMs, -1)
  })

  it('never start without a part', () => {
    const budget = new DestinationRateLimit()
    expect(budget.msToWait(new PartitionShare(0), 50, 1_000_000)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('the permits', () => {
  it.each([
    [10, [0], 3],
    [10, [1], 3],
    [10, [2], 2],
    [10, [3], 2],
    [10, [0, 1, 2, 3], 10],
    [1, [0], 1],
    [1, [1, 2, 3], 0],
  ])('of %d in total, partitions %j have %d', (total, partitions, expected) => {
    expect(permits(ownerOf(...partitions), 5_000, total)).toEqual({ permits: expected, isPending: false })
  })

  it('follow after the time in which requests of the previous owner may continue', () => {
    expect(permits(ownerOf(0), 4_999, 8)).toEqual({ permits: 0, isPending: true })
  })

  it('end when the revocation begins', () => {
    const share = ownerOf(0, 1)
    share.joined(new Set([1]), 6_000)
    expect(permits(share, 6_000, 8).permits).toBe(2)
    share.joined(new Set(), 7_000)
    expect(permits(share, 7_000, 8).permits).toBe(4)
  })

  it('of destinations with few of them are at different partitions', () => {
    const share = ownerOf(0)
    const own = [0, 1, 2, 3].map(rotateBy => share.permitsAt(5_000, 1, rotateBy, 5_000).permits)
    expect(own).toEqual([1, 0, 0, 0])
  })

  it('are pending until the number of partitions is known', () => {
    const share = new PartitionShare(0)
    share.assigned(0, 0)
    expect(permits(share, 10_000, 8)).toEqual({ permits: 0, isPending: true })
  })
})
