import { describe, expect, it } from '@jest/globals'
import { OffsetTracker } from '../../../../src/core/progress/offset-tracker.ts'

interface Row {
  readonly name: string
  readonly run: (tracker: OffsetTracker) => void
  readonly expected: { committable: number; received: number; open: number; span: number }
}

function add(tracker: OffsetTracker, ...offsets: number[]): void {
  for (const offset of offsets) tracker.add(offset)
}
function done(tracker: OffsetTracker, ...offsets: number[]): void {
  for (const offset of offsets) tracker.done(offset)
}

/** Every tracker starts at position 10. */
const rows: readonly Row[] = [
  {
    name: 'nothing read: the initial position',
    run: () => undefined,
    expected: { committable: 10, received: 10, open: 0, span: 0 },
  },
  {
    name: 'nothing done: the first open offset',
    run: tracker => add(tracker, 10, 11, 12),
    expected: { committable: 10, received: 13, open: 3, span: 3 },
  },
  {
    name: 'never the highest done offset',
    run: tracker => {
      add(tracker, 10, 11, 12)
      done(tracker, 12, 11)
    },
    expected: { committable: 10, received: 13, open: 1, span: 3 },
  },
  {
    name: 'the prefix extends over offsets that were done before',
    run: tracker => {
      add(tracker, 10, 11, 12, 13)
      done(tracker, 11, 12, 10)
    },
    expected: { committable: 13, received: 14, open: 1, span: 1 },
  },
  {
    name: 'a gap before the first open record is skipped',
    run: tracker => add(tracker, 1_000_000),
    expected: { committable: 1_000_000, received: 1_000_001, open: 1, span: 1 },
  },
  {
    name: 'a gap between records is done with the record before it',
    run: tracker => {
      add(tracker, 10, 20)
      done(tracker, 10)
    },
    expected: { committable: 20, received: 21, open: 1, span: 1 },
  },
  {
    name: 'a gap at the end counts when nothing is open',
    run: tracker => {
      add(tracker, 10)
      tracker.advance(12)
      done(tracker, 10)
    },
    expected: { committable: 12, received: 12, open: 0, span: 0 },
  },
  {
    name: 'a gap at the end does not count while something is open',
    run: tracker => {
      add(tracker, 10)
      tracker.advance(15)
    },
    expected: { committable: 10, received: 15, open: 1, span: 5 },
  },
  {
    name: 'advancing back changes nothing',
    run: tracker => {
      tracker.advance(15)
      tracker.advance(12)
    },
    expected: { committable: 15, received: 15, open: 0, span: 0 },
  },
]

describe('OffsetTracker', () => {
  it.each(rows)('$name', ({ run, expected }) => {
    const tracker = new OffsetTracker(10)
    run(tracker)
    const { committable, received, open, span } = tracker
    expect({ committable, received, open, span }).toEqual(expected)
  })

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
    expect(() => tracker.add(14)).toThrow('offset 14 was added after offset 14')
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
    expect(tracker.open).toBe(1)
  })
})
