import { describe, expect, it } from '@jest/globals'
import { mebibyte, setUp, upTo } from './processor-fixture.ts'

describe('a partition at its limits', () => {
  it('continues in the same tick when admitted records are done immediately', () => {
    // With recursion, this number of records would overflow the call stack.
    const { consumer, taken, committable } = setUp({
      offsets: upTo(20_000),
      value: Buffer.alloc(5 * mebibyte.length),
      onRecord: (record, processor) => processor.done(record),
    })
    consumer.fetch({ count: 20_000 })
    expect([taken.length, committable(), consumer.isPaused]).toEqual([20_000, [20_000], false])
  })
})

describe('a partition that waits for a time and for a schema', () => {
  it('is resumed when both have come', async () => {
    const { consumer, taken, clock, processor } = setUp({ offsets: upTo(5), dueAfter: { 2: 10, 3: 10, 4: 20 } })
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

describe('a record that becomes due while it is admitted', () => {
  it('is admitted, although the time at the begin of the batch was too early', () => {
    const { consumer, taken, clock } = setUp({ offsets: upTo(3), dueAfter: { 0: 0.002, 1: 0.004, 2: 0.006 } })
    const now = clock.now.bind(clock)
    let calls = 0
    clock.now = () => {
      clock.step(1)
      if (++calls > 1_000) throw new Error('the loop does not end')
      return now()
    }
    for (let n = 0; n < 6; n++) consumer.fetch({ count: 3 })
    expect(taken).toEqual(upTo(3))
  })
})

describe('a record of a broker whose clock was six hours ahead', () => {
  const ahead = 6 * 3_600
  const timestamps = { 0: ahead, 1: ahead + 1, 2: ahead + 2, 3: 0 }

  it('waits as long as the other records of its topic, and does not delay the records behind it', async () => {
    const { consumer, taken, clock, logger } = setUp({ offsets: upTo(4), waitSeconds: 60, timestamps })
    consumer.fetch({ count: 1 })
    await clock.advance(59_999)
    expect(taken).toEqual([])
    await clock.advance(1)
    // All four records were in the log before the wait, so the wait of the first one counts for
    // all.
    consumer.fetch({ count: 4 })
    expect(taken).toEqual(upTo(4))
    expect(logger.lines.map(({ level, fields }) => [level, fields['offset']])).toEqual([['warn', 0]])
  })

  it('waits the whole time if it was appended during the wait of an earlier one', async () => {
    const { consumer, taken, clock } = setUp({ offsets: upTo(2), end: 1, waitSeconds: 60, timestamps })
    consumer.fetch({ count: 1 })
    await clock.advance(60_000)
    consumer.fetch({ count: 2 })
    expect(taken).toEqual([0])
    await clock.advance(59_999)
    expect(consumer.isPaused).toBe(true)
    await clock.advance(1)
    consumer.fetch({ count: 1 })
    expect(taken).toEqual([0, 1])
  })

  it('is not early when the clock of the process is corrected during the wait', async () => {
    const { consumer, taken, clock } = setUp({ offsets: upTo(1), waitSeconds: 60, timestamps: { 0: 0 } })
    consumer.fetch({ count: 1 })
    clock.step(-3_600_000)
    await clock.advance(59_999)
    consumer.fetch({ count: 1 })
    expect(taken).toEqual([])
    await clock.advance(1)
    consumer.fetch({ count: 1 })
    expect(taken).toEqual([0])
  })
})
