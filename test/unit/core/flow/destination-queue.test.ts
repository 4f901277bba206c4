import { describe, expect, it } from '@jest/globals'
import { DestinationQueue } from '../../../../src/core/flow/destination-queue.ts'

describe('DestinationQueue', () => {
  it('returns items in order of arrival', () => {
    const lane = new DestinationQueue<string>()
    for (const item of ['a', 'b', 'c']) lane.push(item)
    expect([lane.take(), lane.take(), lane.take(), lane.take()]).toEqual(['a', 'b', 'c', undefined])
  })

  it('returns the next item of a key only after the previous one has ended', () => {
    const lane = new DestinationQueue<string>()
    lane.push('a1', 'a')
    lane.push('a2', 'a')
    lane.push('b1', 'b')
    expect([lane.take(), lane.take(), lane.take()]).toEqual(['a1', 'b1', undefined])
    expect(lane.queued).toBe(1)
    lane.ended('a')
    expect(lane.take()).toBe('a2')
  })

  it('forgets a key when its last item has ended', () => {
    const lane = new DestinationQueue<string>()
    lane.push('a1', 'a')
    lane.take()
    lane.ended('a')
    lane.push('a2', 'a')
    expect(lane.take()).toBe('a2')
  })

  it('an item without a key blocks no other', () => {
    const lane = new DestinationQueue<string>()
    lane.push('retry')
    lane.push('a1', 'a')
    expect([lane.take(), lane.take()]).toEqual(['retry', 'a1'])
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
