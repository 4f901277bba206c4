import { describe, expect, it } from '@jest/globals'
import type { LogRecord, RecordBatch } from '../../../../src/core/ports.ts'
import { FetchBuffer } from '../../../../src/services/partitions/fetch-buffer.ts'
import { recordOf } from '../../../support/builders.ts'

const batch = (offsets: readonly number[], nextOffset = (offsets.at(-1) ?? -1) + 1): RecordBatch => ({
  topic: 'hookline.events',
  partition: 3,
  records: offsets.map(offset => recordOf({ offset })),
  nextOffset,
  highWatermark: 100,
})
const take = (unread: FetchBuffer, count: number): (number | undefined)[] =>
  Array.from({ length: count }, () => unread.next()?.offset)

describe('unread records', () => {
  it.each<[string, { first: RecordBatch; taken: number; second: RecordBatch; rest: number[]; nextOffset: number }]>([
    ['one batch', { first: batch([5, 6, 9]), taken: 0, second: batch([], 10), rest: [5, 6, 9], nextOffset: 10 }],
    ['the next batch after the first', { first: batch([5]), taken: 1, second: batch([6]), rest: [6], nextOffset: 7 }],
    [
      'the next batch behind the rest of the first',
      { first: batch([5, 6, 7]), taken: 1, second: batch([8, 9]), rest: [6, 7, 8, 9], nextOffset: 10 },
    ],
    [
      'a batch without records, which only moves the offset',
      { first: batch([5, 6]), taken: 1, second: batch([], 40), rest: [6], nextOffset: 40 },
    ],
    [
      'a next offset far after its last record',
      { first: batch([5], 6), taken: 1, second: batch([6], 90), rest: [6], nextOffset: 90 },
    ],
  ])('are returned in order: %s', (_name, { first, taken, second, rest, nextOffset }) => {
    const unread = new FetchBuffer()
    unread.add(first)
    take(unread, taken)
    unread.add(second)
    expect([unread.nextOffset, unread.isEmpty]).toEqual([nextOffset, false])
    expect(take(unread, rest.length + 1)).toEqual([...rest, undefined])
    expect([unread.nextOffset, unread.isEmpty]).toEqual([nextOffset, true])
  })

  it.each<[string, { added: RecordBatch; taken: number; max: number; dropped: number | undefined; kept: number[] }]>([
    ['all records', { added: batch([5, 6, 7], 40), taken: 1, max: 2, dropped: undefined, kept: [6, 7] }],
    ['some records', { added: batch([5, 6, 9, 10], 40), taken: 1, max: 1, dropped: 9, kept: [6] }],
    ['no record', { added: batch([5, 6, 7], 40), taken: 1, max: 0, dropped: 6, kept: [] }],
    ['no record of an empty buffer', { added: batch([5], 40), taken: 1, max: 0, dropped: undefined, kept: [] }],
  ])('truncate keeps %s, and returns the first dropped offset', (_name, { added, taken, max, dropped, kept }) => {
    const unread = new FetchBuffer()
    unread.add(added)
    take(unread, taken)
    expect([unread.truncate(max), unread.nextOffset]).toEqual([dropped, dropped ?? 40])
    unread.add(batch([50]))
    expect(take(unread, kept.length + 2)).toEqual([...kept, 50, undefined])
  })

  it('return a requeued record first', () => {
    const unread = new FetchBuffer()
    unread.add(batch([5, 6]))
    unread.requeue(unread.next() as LogRecord)
    expect(take(unread, 3)).toEqual([5, 6, undefined])
  })

  it('do not change the added batches', () => {
    const [first, second] = [batch([5, 6]), batch([7])]
    const unread = new FetchBuffer()
    unread.add(first)
    unread.add(second)
    take(unread, 3)
    expect([first.records.length, second.records.length]).toEqual([2, 1])
  })
})
