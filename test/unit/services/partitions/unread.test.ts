import { describe, expect, it } from '@jest/globals'
import type { LogRecord, RecordBatch } from '../../../../src/core/ports.ts'
import { Unread } from '../../../../src/services/partitions/unread.ts'
import { recordOf } from '../../../support/dispatcher/deliveries.ts'

const batch = (offsets: readonly number[], nextOffset = (offsets.at(-1) ?? -1) + 1): RecordBatch => ({
  topic: 'hookline.events',
  partition: 3,
  records: offsets.map(offset => recordOf({ offset })),
  nextOffset,
  highWatermark: 100,
})
const take = (unread: Unread, count: number): (number | undefined)[] =>
  Array.from({ length: count }, () => unread.next()?.offset)

describe('what was fetched and not taken up', () => {
  it('is nothing at first', () => {
    const unread = new Unread()
    expect([unread.isEmpty, unread.nextOffset, unread.next()]).toEqual([true, 0, undefined])
  })

  it.each<[string, { first: RecordBatch; taken: number; second: RecordBatch; rest: number[]; nextOffset: number }]>([
    ['one batch', { first: batch([5, 6, 9]), taken: 0, second: batch([], 10), rest: [5, 6, 9], nextOffset: 10 }],
    ['the next batch after all of it', { first: batch([5]), taken: 1, second: batch([6]), rest: [6], nextOffset: 7 }],
    [
      'the next batch behind the rest of the one before',
      { first: batch([5, 6, 7]), taken: 1, second: batch([8, 9]), rest: [6, 7, 8, 9], nextOffset: 10 },
    ],
    [
      'a batch without records, which only moves the end',
      { first: batch([5, 6]), taken: 1, second: batch([], 40), rest: [6], nextOffset: 40 },
    ],
    [
      'an end far behind its last record',
      { first: batch([5], 6), taken: 1, second: batch([6], 90), rest: [6], nextOffset: 90 },
    ],
  ])('comes out in order: %s', (_name, { first, taken, second, rest, nextOffset }) => {
    const unread = new Unread()
    unread.add(first)
    take(unread, taken)
    unread.add(second)
    expect([unread.nextOffset, unread.isEmpty]).toEqual([nextOffset, false])
    expect(take(unread, rest.length + 1)).toEqual([...rest, undefined])
    expect([unread.nextOffset, unread.isEmpty]).toEqual([nextOffset, true])
  })

  it.each<[string, { added: RecordBatch; taken: number; most: number; again: number | undefined; kept: number[] }]>([
    ['all of it', { added: batch([5, 6, 7], 40), taken: 1, most: 2, again: undefined, kept: [6, 7] }],
    ['a part of it', { added: batch([5, 6, 9, 10], 40), taken: 1, most: 1, again: 9, kept: [6] }],
    ['nothing of it', { added: batch([5, 6, 7], 40), taken: 1, most: 0, again: 6, kept: [] }],
    ['nothing, of which there is none', { added: batch([5], 40), taken: 1, most: 0, again: undefined, kept: [] }],
  ])('%s is kept, and the rest comes again from its first one on', (_name, { added, taken, most, again, kept }) => {
    const unread = new Unread()
    unread.add(added)
    take(unread, taken)
    expect([unread.truncate(most), unread.nextOffset]).toEqual([again, again ?? 40])
    unread.add(batch([50]))
    expect(take(unread, kept.length + 2)).toEqual([...kept, 50, undefined])
  })

  it('has the one first that was put back', () => {
    const unread = new Unread()
    unread.add(batch([5, 6]))
    unread.requeue(unread.next() as LogRecord)
    expect(take(unread, 3)).toEqual([5, 6, undefined])
  })

  it('leaves the batches that it was given as they are', () => {
    const [first, second] = [batch([5, 6]), batch([7])]
    const unread = new Unread()
    unread.add(first)
    unread.add(second)
    take(unread, 3)
    expect([first.records.length, second.records.length]).toEqual([2, 1])
  })
})
