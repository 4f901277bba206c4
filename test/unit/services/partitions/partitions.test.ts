import { describe, expect, it } from '@jest/globals'
import { type Given, mebibyte, setUp, upTo } from './processor-fixture.ts'

describe('a partition at its limits', () => {
  it('keeps fetched records unread, also those of a fetch in progress, and fetches no more', () => {
    const { consumer, taken } = setUp({ offsets: upTo(12), value: mebibyte })
    for (const count of [10, 2]) consumer.fetch({ count, late: true })
    expect([taken, consumer.isPaused, consumer.calls]).toEqual([upTo(5), true, ['pause']])
  })

  it('admits the rest in order below half of its limits, and only then fetches again', () => {
    const { consumer, taken, done } = setUp({ offsets: upTo(12), value: mebibyte })
    consumer.fetch({ count: 8 })
    done(4, 2)
    expect(taken).toEqual(upTo(5))
    done(0)
    expect(taken).toEqual(upTo(8))
    expect(consumer.isPaused).toBe(true)
    done(1, 3, 5)
    expect([taken.length, consumer.isPaused]).toEqual([8, false])
    consumer.fetch({ count: 4 })
    expect(taken).toEqual(upTo(11))
  })

  it('continues in the same tick when admitted records are done immediately', () => {
    // Each record alone exceeds the limit. The call stack must not grow with their number.
    const { consumer, taken, committable } = setUp({
      offsets: upTo(20_000),
      value: Buffer.alloc(5 * mebibyte.length),
      onRecord: (record, processor) => processor.done(record),
    })
    consumer.fetch({ count: 20_000 })
    expect([taken.length, committable(), consumer.isPaused]).toEqual([20_000, [20_000], false])
  })
})

it('skips records that are fetched twice', () => {
  const { consumer, taken } = setUp({ offsets: upTo(6) })
  consumer.fetch({ count: 4 })
  consumer.fetch({ count: 2, again: 3 })
  expect(taken).toEqual(upTo(6))
})

describe('the committable position', () => {
  it.each<[string, Given & { fetch: number; done: number[]; committable: number }]>([
    [
      'includes a gap after the last done record',
      { offsets: [0, 1], end: 50, fetch: 2, done: [0, 1], committable: 50 },
    ],
    ['does not pass a record in progress', { offsets: [0, 1], end: 50, fetch: 2, done: [1], committable: 0 }],
    [
      'does not pass unread records at the limit',
      { offsets: upTo(8), end: 50, value: mebibyte, fetch: 8, done: [0, 1], committable: 2 },
    ],
    [
      'does not pass a record that is not due',
      { offsets: upTo(4), end: 50, dueAfter: { 2: 10 }, fetch: 4, done: [0, 1], committable: 2 },
    ],
    [
      'does not pass the first record when that is not due',
      { offsets: [7, 8], end: 50, dueAfter: { 7: 10 }, fetch: 2, done: [], committable: 7 },
    ],
  ])('%s', (_name, { fetch, done: ended, committable: expected, ...given }) => {
    const { consumer, committable, done } = setUp(given)
    consumer.fetch({ count: fetch, withGap: true })
    done(...ended)
    expect(committable()).toEqual([expected])
  })

  it('does not pass a record that waits for its schema', () => {
    const { consumer, committable, done } = setUp({
      offsets: upTo(4),
      end: 50,
      onRecord: (record, processor) => record.offset === 1 && processor.pause('schema'),
    })
    consumer.fetch({ count: 4, withGap: true })
    done(0, 1)
    expect(committable()).toEqual([2])
  })
})

describe('a partition that waits for a schema', () => {
  it('keeps the other records in order, with newly fetched ones behind them', () => {
    const { consumer, taken, processor } = setUp({
      offsets: upTo(6),
      onRecord: (record, of) => record.offset === 1 && of.pause('schema'),
    })
    consumer.fetch({ count: 4 })
    consumer.fetch({ count: 2, late: true })
    expect([taken, consumer.isPaused]).toEqual([upTo(2), true])
    processor()?.resume('schema')
    expect([taken, consumer.isPaused]).toEqual([upTo(6), false])
  })

  it('does not resume a partition that is also paused for another reason', () => {
    const { consumer, taken, processor, done } = setUp({
      offsets: upTo(6),
      value: mebibyte,
      onRecord: (record, of) => record.offset === 4 && of.pause('schema'),
    })
    consumer.fetch({ count: 6 })
    processor()?.resume('schema')
    expect(taken).toEqual(upTo(5))
    done(0, 1, 2)
    expect(taken).toEqual(upTo(6))
  })
})

describe('a revocation', () => {
  it('drops unread records, and ignores records that are done later', () => {
    const { consumer, taken, processor, committable, done } = setUp({ offsets: upTo(8), value: mebibyte })
    consumer.fetch({ count: 8 })
    const revoked = processor()
    consumer.revoke()
    done(0, 1, 2, 3, 4)
    revoked?.resume('backlog')
    expect([taken, committable()]).toEqual([upTo(5), []])
    consumer.fetch({ count: 8, late: true })
    expect(taken).toEqual(upTo(5))
  })

  it('drops records that wait until they are due, or for a schema', async () => {
    const { consumer, taken, clock, processor } = setUp({
      offsets: upTo(4),
      dueAfter: { 2: 10 },
      onRecord: (record, of) => record.offset === 1 && of.pause('schema'),
    })
    consumer.fetch({ count: 4 })
    const revoked = processor()
    consumer.revoke()
    revoked?.resume('schema')
    await clock.advance(60_000)
    expect([taken, consumer.calls]).toEqual([upTo(2), ['pause']])
  })

  it('and a new assignment repeat exactly the records that were not done', () => {
    const { consumer, taken, partitions, committable, done } = setUp({ offsets: upTo(8), value: mebibyte })
    consumer.fetch({ count: 8 })
    done(0, 3)
    const [position] = partitions.handlers.positions()
    consumer.revoke()
    taken.length = 0
    consumer.assign(position ?? { offset: 0, metadata: '' })
    consumer.fetch({ count: 8 })
    expect([taken, committable()]).toEqual([[1, 2, 4, 5, 6], [1]])
  })

  it('is implied by a second assignment: done records of the first one do not count for it', () => {
    const { consumer, taken, done } = setUp({ offsets: upTo(8), value: mebibyte })
    consumer.fetch({ count: 8 })
    consumer.assign({ offset: 0, metadata: '' })
    done(...upTo(5))
    consumer.fetch({ count: 1 })
    expect(taken).toEqual([...upTo(5), 0])
  })
})
