import { describe, expect, it } from '@jest/globals'
import { setUp, upTo } from './processor-fixture.ts'

describe('a record that is not due', () => {
  const dueAfter = { 2: 10, 3: 10, 4: 20 }

  it('stops its batch: no record behind it is admitted, and it is fetched again when it is due', async () => {
    const { consumer, taken, clock } = setUp({ offsets: upTo(5), dueAfter })
    consumer.fetch({ count: 5 })
    expect([taken, consumer.calls]).toEqual([upTo(2), ['pause', 'seek 2']])
    consumer.stray(3)
    await clock.advance(9_999)
    expect([taken, consumer.isPaused]).toEqual([upTo(2), true])
    await clock.advance(1)
    expect([taken, consumer.isPaused]).toEqual([upTo(2), false])
    consumer.fetch({ count: 3 })
    expect([taken, consumer.calls.slice(2)]).toEqual([upTo(4), ['resume', 'pause', 'seek 4']])
    await clock.advance(10_000)
    consumer.fetch({ count: 1 })
    expect(taken).toEqual(upTo(5))
  })

  it('stays in memory with the records behind it when it is due within a second', async () => {
    const { consumer, taken, clock, committable } = setUp({
      offsets: upTo(4),
      end: 9,
      dueAfter: { 1: 0.5, 2: 1, 3: 1.6 },
    })
    consumer.fetch({ count: 4, withGap: true })
    expect([taken, consumer.calls, consumer.next, committable()]).toEqual([upTo(1), ['pause'], 9, [0]])
    await clock.advance(500)
    expect(taken).toEqual(upTo(2))
    await clock.advance(500)
    expect(taken).toEqual(upTo(3))
    expect(consumer.isPaused).toBe(true)
    await clock.advance(600)
    expect([taken, consumer.calls.filter(call => call !== 'pause')]).toEqual([upTo(4), ['resume']])
  })

  it('keeps records up to the limit; the others are fetched again', async () => {
    const { consumer, taken, clock, others } = setUp({ offsets: upTo(30), dueAfter: { 1: 1 } })
    others(999)
    consumer.fetch({ count: 30 })
    expect([taken, consumer.calls]).toEqual([upTo(1), ['pause', 'seek 11']])
    await clock.advance(1_000)
    expect([taken, consumer.isPaused]).toEqual([upTo(11), false])
    consumer.fetch({ count: 30 })
    expect(taken).toEqual(upTo(30))
  })

  it('does not resume a partition that is also paused for another reason', async () => {
    const { consumer, taken, clock, processor } = setUp({ offsets: upTo(5), dueAfter })
    consumer.fetch({ count: 5 })
    processor()?.pause('schema')
    await clock.advance(10_000)
    expect(consumer.isPaused).toBe(true)
    processor()?.resume('schema')
    expect(consumer.isPaused).toBe(false)
    consumer.fetch({ count: 2 })
    expect(taken).toEqual(upTo(4))
  })
})
