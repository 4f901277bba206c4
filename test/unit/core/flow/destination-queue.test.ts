import { describe, expect, it } from '@jest/globals'
import { DestinationQueue } from '../../../../src/core/flow/destination-queue.ts'

describe('DestinationQueue', () => {
  it('returns items in order of arrival', () => {
    const lane = new DestinationQueue<string>()
    for (const item of ['a', 'b', 'c']) lane.push(item)
    expect([lane.take(), lane.take(), lane.take(), lane.take()]).toEqual(['a', 'b', 'c', undefined])
  })

  it('returns a requeued item next, and its key stays in progress', () => {
    const lane = new DestinationQueue<string>()
    lane.push('a1', 'a')
    lane.push('a2', 'a')
    lane.push('b1', 'b')
    lane.requeue(lane.take() as string, 'a')
    expect(lane.queued).toBe(3)
    expect([lane.take(), lane.take(), lane.take()]).toEqual(['a1', 'b1', undefined])
  })
})
