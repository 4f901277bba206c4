import { describe, expect, it } from '@jest/globals'
import type { Counts } from '../../../packages/client/src/counts.ts'
import { Closed } from '../../../packages/client/src/errors.ts'
import type { SendResult } from '../../../packages/client/src/transport.ts'
import {
  always,
  inTurn,
  type Respond,
  retry,
  senderHarness,
  settled,
  taken,
} from '../../support/client/sender-harness.ts'

describe('a flush is due', () => {
  it('at the 20th message', async () => {
    const { add, sizes } = senderHarness(always(taken))
    add(19)
    await settled()
    expect(sizes()).toEqual([])
    add(1)
    await settled()
    expect(sizes()).toEqual([20])
  })

  it('after two full batches, the rest waits for the next flush', async () => {
    const { add, sizes, advance } = senderHarness(always(taken))
    add(45)
    await settled()
    expect(sizes()).toEqual([20, 20])
    await advance(5_000)
    expect(sizes()).toEqual([20, 20, 5])
  })

  it('5 s after a single message', async () => {
    const { add, tries, advance } = senderHarness(always(taken))
    add(1)
    await advance(4_999)
    expect(tries).toEqual([])
    await advance(1)
    expect(tries).toMatchObject([{ atMs: 5_000 }])
  })

  it('5 s after the last flush', async () => {
    const { add, tries, advance } = senderHarness(always(taken))
    add(20)
    await advance(4_000)
    add(1)
    await advance(1_000)
    expect(tries.map(({ atMs }) => atMs)).toEqual([0, 5_000])
  })

  it('5 s after the first message if the last flush is older', async () => {
    const { add, tries, advance } = senderHarness(always(taken))
    add(20)
    await advance(60_000)
    add(1)
    await advance(10_000)
    expect(tries.map(({ atMs }) => atMs)).toEqual([0, 65_000])
  })

  it('5 s after the last flush began, or immediately if the request takes longer', async () => {
    const { add, tries, advance } = senderHarness(inTurn(retry(30_000), taken))
    add(20)
    await advance(1_000)
    add(1)
    await advance(29_000)
    expect(tries.map(({ atMs, messageIds }) => [atMs, messageIds[0]])).toEqual([
      [0, 'm1'],
      [30_000, 'm1'],
      [30_000, 'm21'],
    ])
  })

  it('5 s after a message that was queued late in a long request', async () => {
    const { add, tries, advance } = senderHarness(inTurn(retry(30_000), taken))
    add(20)
    await advance(28_000)
    add(1)
    await advance(10_000)
    expect(tries.map(({ atMs }) => atMs)).toEqual([0, 30_000, 33_000])
  })

  it('at 500 000 bytes with envelope and commas; one byte more waits', async () => {
    const room = 500_000 - 200
    const exact = senderHarness(always(taken))
    exact.add(9, 30_000)
    exact.add(6, 30_000)
    await settled()
    expect(exact.sizes()).toEqual([])
    // The bytes that are left for the 16th and 17th message.
    const left = room - 15 * 30_000 - 16
    exact.add(1, 30_000)
    exact.add(1, left - 30_000)
    await settled()
    expect(exact.sizes()).toEqual([17])

    const over = senderHarness(always(taken))
    over.add(16, 30_000)
    over.add(1, left - 30_000 + 1)
    await settled()
    expect(over.sizes()).toEqual([16])
  })

  it('with more than 10 waiting batches it sends the largest possible requests', async () => {
    let open = (_: SendResult): void => {}
    let isFirst = true
    const { add, sizes } = senderHarness(() => {
      if (!isFirst) return taken
      isFirst = false
      return new Promise(resolve => {
        open = resolve
      })
    })
    add(20)
    await settled()
    add(201, 400)
    open(taken)
    await settled()
    expect(sizes()).toEqual([20, 201])
  })

  it.each([
    ['with size 1, every message', { size: 1 }, 3, Array(3).fill(1)],
    ['with 10 waiting batches, it keeps its size', {}, 200, Array(10).fill(20)],
  ])('%s', async (_, settings, messages, expected) => {
    const { add, sizes } = senderHarness(always(taken), settings)
    add(messages)
    await settled()
    expect(sizes()).toEqual(expected)
  })

  it('without messages there is no timer', async () => {
    const { add, clock, sender } = senderHarness(always(taken))
    expect(clock.timers).toBe(0)
    add(3)
    expect(clock.timers).toBe(1)
    await sender.flush()
    await settled()
    expect({ timers: clock.timers, holds: clock.holds }).toEqual({ timers: 0, holds: 0 })
  })
})

describe('flush and close', () => {
  it('flush includes messages queued while it runs', async () => {
    const { add, sender, sent, advance } = senderHarness(inTurn(retry(), taken))
    add(3)
    const flushed = sender.flush()
    await settled()
    add(2)
    await advance(1_000)
    await flushed
    expect(sent).toEqual(['m1', 'm2', 'm3', 'm4', 'm5'])
  })

  it('flush resolves although the client is never idle', async () => {
    const harness = senderHarness(async () => {
      harness.add(1)
      return taken
    })
    harness.add(3)
    await harness.sender.flush()
    expect(harness.sent.length).toBeGreaterThanOrEqual(4)
    // The scripted endpoint adds a message at each request, so the client sends until `close` ends.
    const closed = harness.sender.close(1_000)
    await harness.advance(1_000)
    await closed
  })

  it('flush resolves immediately when the queue is empty', async () => {
    const { sender, clock } = senderHarness(always(taken))
    await sender.flush()
    expect(clock.holds).toBe(0)
  })

  it('close sends all messages and can be repeated; later calls throw', async () => {
    const { add, sender, sent } = senderHarness(always(taken))
    add(50)
    await Promise.all([sender.close(), sender.close()])
    await sender.close()
    expect(sent).toHaveLength(50)
    expect(() => add(1)).toThrow(Closed)
    expect(sender.counts).toEqual({ queued: 50, sent: 50, failed: 0, dropped: 0, waiting: 0 })
  })

  it('close with a time limit fails the remaining messages and aborts the request', async () => {
    let ended = false
    const hangs: Respond = (_, __, signal) =>
      new Promise(resolve =>
        signal.addEventListener('abort', () => {
          ended = true
          resolve(retry())
        }),
      )
    const { add, sender, failures, clock, advance } = senderHarness(hangs)
    add(30)
    const closed = sender.close(2_000)
    await advance(2_000)
    await closed
    expect(failures).toMatchObject([{ reason: 'out_of_time', code: 'out_of_time' }])
    expect(failures[0]?.messageIds).toHaveLength(30)
    expect(sender.counts).toEqual({ queued: 30, sent: 0, failed: 30, dropped: 0, waiting: 0 })
    await settled()
    expect({ ended, timers: clock.timers, holds: clock.holds }).toEqual({ ended: true, timers: 0, holds: 0 })
  })

  it('close with a time limit ends a retry delay', async () => {
    const { add, sender, failures, clock, tries, advance } = senderHarness(always(retry(300_000)))
    add(1)
    const closed = sender.close(1_000)
    await advance(1_000)
    await closed
    await settled()
    expect({ tries: tries.length, failed: failures.length, timers: clock.timers }).toEqual({
      tries: 1,
      failed: 1,
      timers: 0,
    })
  })

  it('reports when it becomes busy and idle', async () => {
    const { add, sender, busy } = senderHarness(always(taken))
    add(2)
    expect(busy).toEqual([true])
    await sender.flush()
    expect(busy).toEqual([true, false])
  })
})

describe('counts', () => {
  it('add up inside onSent and onFailure when the collector rejects some messages of a batch', async () => {
    const rejected = [0, 2].map(index => ({ index, code: 'too_deep', detail: 'Flatten it.' }))
    const seen: Counts[] = []
    const note = (): void => void seen.push(sender.counts)
    const { sender, add, advance } = senderHarness(always({ kind: 'taken', rejected }), {}, note, note)
    add(3)
    await advance(5_000)
    expect(seen).toEqual(Array(3).fill({ queued: 3, sent: 1, failed: 2, dropped: 0, waiting: 0 }))
  })
})
