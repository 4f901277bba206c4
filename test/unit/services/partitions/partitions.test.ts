import { describe, expect, it } from '@jest/globals'
import { type Given, mebibyte, setUp, upTo } from './one-processor.ts'

describe('a partition at its limits', () => {
  it('leaves what was fetched as it came, also by a fetch that was under way, and fetches no more', () => {
    const { consumer, taken } = setUp({ offsets: upTo(12), value: mebibyte })
    for (const count of [10, 2]) consumer.fetch({ count, late: true })
    expect([taken, consumer.isPaused, consumer.calls]).toEqual([upTo(5), true, ['pause']])
  })

  it('takes up the rest below half of them, in order, and fetches again only after that', () => {
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

  it('goes on within the same turn when what it takes up is done at once', () => {
    // Each of them alone is beyond the limit: the stack must not grow with them.
    const { consumer, taken, committable } = setUp({
      offsets: upTo(20_000),
      value: Buffer.alloc(5 * mebibyte.length),
      onRecord: (record, processor) => processor.done(record),
    })
    consumer.fetch({ count: 20_000 })
    expect([taken.length, committable(), consumer.isPaused]).toEqual([20_000, [20_000], false])
  })
})

it('what comes once more is left out', () => {
  const { consumer, taken } = setUp({ offsets: upTo(6) })
  consumer.fetch({ count: 4 })
  consumer.fetch({ count: 2, again: 3 })
  expect(taken).toEqual(upTo(6))
})

describe('the position that may be committed', () => {
  it.each<[string, Given & { fetch: number; done: number[]; committable: number }]>([
    [
      'goes beyond the gap behind all that is done',
      { offsets: [0, 1], end: 50, fetch: 2, done: [0, 1], committable: 50 },
    ],
    ['not beyond what is open', { offsets: [0, 1], end: 50, fetch: 2, done: [1], committable: 0 }],
    [
      'not beyond what waits unread at the limit',
      { offsets: upTo(8), end: 50, value: mebibyte, fetch: 8, done: [0, 1], committable: 2 },
    ],
    [
      'not beyond what is not due',
      { offsets: upTo(4), end: 50, dueAfter: { 2: 10 }, fetch: 4, done: [0, 1], committable: 2 },
    ],
    [
      'not beyond the first, when that is not due',
      { offsets: [7, 8], end: 50, dueAfter: { 7: 10 }, fetch: 2, done: [], committable: 7 },
    ],
  ])('%s', (_name, { fetch, done: ended, committable: expected, ...given }) => {
    const { consumer, committable, done } = setUp(given)
    consumer.fetch({ count: fetch, withGap: true })
    done(...ended)
    expect(committable()).toEqual([expected])
  })

  it('not beyond what waits behind a schema, however much before it is done', () => {
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

describe('a schema that is waited for', () => {
  it('holds the rest where it is, in order; what comes meanwhile goes behind it', () => {
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

  it('is not the end of another hold', () => {
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
  it('drops what was not taken up, and what ends later changes nothing', () => {
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

  it('drops what waits for its time or for a schema', async () => {
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

  it('and a new assignment begin where the group was: all that was not done comes once more, nothing else', () => {
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

  it('goes without saying when it is assigned again: what the one before has done makes room for nothing', () => {
    const { consumer, taken, done } = setUp({ offsets: upTo(8), value: mebibyte })
    consumer.fetch({ count: 8 })
    consumer.assign({ offset: 0, metadata: '' })
    done(...upTo(5))
    consumer.fetch({ count: 1 })
    expect(taken).toEqual([...upTo(5), 0])
  })
})
