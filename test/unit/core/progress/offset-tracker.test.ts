import { describe, expect, it } from '@jest/globals'
import { OffsetTracker } from '../../../../src/core/progress/offset-tracker.ts'

function add(tracker: OffsetTracker, ...offsets: number[]): void {
  for (const offset of offsets) tracker.add(offset)
}
function done(tracker: OffsetTracker, ...offsets: number[]): void {
  for (const offset of offsets) tracker.done(offset)
}

describe('OffsetTracker', () => {
  it.each([
    { name: 'added twice', offsets: [10], bug: (tracker: OffsetTracker) => tracker.add(10) },
    { name: 'added below the position', offsets: [], bug: (tracker: OffsetTracker) => tracker.add(9) },
    { name: 'added out of order', offsets: [12], bug: (tracker: OffsetTracker) => tracker.add(11) },
    { name: 'done but never added', offsets: [], bug: (tracker: OffsetTracker) => tracker.done(10) },
    { name: 'a gap done', offsets: [10, 12], bug: (tracker: OffsetTracker) => tracker.done(11) },
    { name: 'done twice', offsets: [10, 11], bug: (tracker: OffsetTracker) => done(tracker, 11, 11) },
  ])('a bug throws: $name', ({ offsets, bug }) => {
    const tracker = new OffsetTracker(10)
    add(tracker, ...offsets)
    expect(() => bug(tracker)).toThrow(RangeError)
  })

  it('an offset below an advanced position throws', () => {
    const tracker = new OffsetTracker(10)
    tracker.advance(15)
    expect(() => tracker.add(14)).toThrow('got offset 14 after offset 14')
  })

  it('keeps its order when the ring buffer grows across its end', () => {
    const tracker = new OffsetTracker(0)
    for (let offset = 0; offset < 60; offset++) tracker.add(offset)
    for (let offset = 0; offset < 50; offset++) tracker.done(offset)
    for (let offset = 60; offset < 200; offset++) tracker.add(offset)
    for (let offset = 50; offset < 199; offset++) {
      tracker.done(offset)
      expect(tracker.committable).toBe(offset + 1)
    }
    expect(tracker.inProgressCount).toBe(1)
  })
})
