import { describe, expect, it } from '@jest/globals'
import { Closed, QueueFull } from '../../../packages/client/src/errors.ts'
import type { QueueSettings } from '../../../packages/client/src/options.ts'
import type { SendResult } from '../../../packages/client/src/transport.ts'
import {
  always,
  entry,
  inTurn,
  type Respond,
  retry,
  senderHarness,
  settled,
  taken,
  trouble,
} from '../../support/client/sender-harness.ts'

describe('retries', () => {
  it('retries 10 times from 0.5 s doubling to 60 s, with the same messages and batch id', async () => {
    const { add, tries, failures, advance, sender } = senderHarness(always(retry()))
    add(20)
    await advance(3_600_000)
    expect(tries.map(({ retry: count }) => count)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    const waits = tries.slice(1).map(({ atMs }, index) => atMs - (tries[index]?.atMs ?? 0))
    // The random number is always 0.5, so the jitter multiplies each wait by 0.75.
    expect(waits).toEqual(
      [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000].map(ms => ms * 0.75),
    )
    expect(new Set(tries.map(({ id, messageIds }) => `${id} ${messageIds}`)).size).toBe(1)
    expect(failures).toMatchObject([{ reason: 'retries_exhausted', code: 'http_503' }])
    expect(sender.counts).toEqual({ queued: 20, sent: 0, failed: 20, dropped: 0, waiting: 0 })
  })

  it('Retry-After delays all messages of the client', async () => {
    const { add, tries, advance } = senderHarness(inTurn(retry(30_000), taken))
    add(20)
    await advance(1_000)
    add(40)
    await advance(28_999)
    expect(tries).toHaveLength(1)
    await advance(1)
    expect(tries.map(({ messageIds }) => messageIds[0])).toEqual(['m1', 'm1', 'm21', 'm41'])
  })

  it('an awaited flush keeps the process alive during a retry delay; a pending retry alone does not', async () => {
    const { add, clock, sender, advance } = senderHarness(inTurn(retry(), taken))
    add(20)
    await settled()
    expect(clock.holds).toBe(0)
    const flushed = sender.flush()
    expect(clock.holds).toBe(1)
    await advance(1_000)
    await flushed
    expect(clock.holds).toBe(0)
  })

  it('retries when the transport throws', async () => {
    const { add, failures, advance } = senderHarness(() => {
      throw new Error('a bug')
    })
    add(20)
    await advance(3_600_000)
    expect(failures).toMatchObject([{ reason: 'retries_exhausted', code: 'internal', detail: 'Error: a bug' }])
  })
})

describe('final responses', () => {
  it('refused: fails the batch and sends the next one', async () => {
    const { add, sizes, failures, sent } = senderHarness(inTurn({ kind: 'refused', trouble }, taken))
    add(40)
    await settled()
    expect(sizes()).toEqual([20, 20])
    expect(failures).toMatchObject([
      { reason: 'refused', messageIds: Array.from({ length: 20 }, (_, n) => `m${n + 1}`) },
    ])
    expect(sent).toHaveLength(20)
  })

  it('too large: splits the batch in halves, in order; a single message fails', async () => {
    const tooLarge: Respond = ({ messages }) =>
      messages.some(({ messageId }) => messageId === 'm5') ? { kind: 'too_large', trouble } : taken
    const { add, sizes, failures, sent } = senderHarness(tooLarge, { size: 8 })
    add(8)
    await settled()
    expect(sizes()).toEqual([8, 4, 4, 2, 1, 1, 2])
    expect(sent).toEqual(['m1', 'm2', 'm3', 'm4', 'm6', 'm7', 'm8'])
    expect(failures).toMatchObject([{ reason: 'too_large', messageIds: ['m5'] }])
  })

  it('rejections fail only the rejected messages', async () => {
    const rejected = [{ index: 1, code: 'too_deep', detail: 'Flatten it.' }]
    const { add, failures, sent, sender } = senderHarness(always({ kind: 'taken', rejected }), { size: 3 })
    add(3)
    await settled()
    expect(sent).toEqual(['m1', 'm3'])
    expect(failures).toMatchObject([
      { reason: 'rejected', code: 'too_deep', detail: 'Flatten it.', messageIds: ['m2'] },
    ])
    expect(failures[0]?.messages).toMatchObject([{ messageId: 'm2' }])
    expect(sender.counts).toEqual({ queued: 3, sent: 2, failed: 1, dropped: 0, waiting: 0 })
  })
})

describe('a full queue', () => {
  const never: Respond = () => new Promise(() => {})

  it('error: the call throws and queued messages stay', async () => {
    const { add, sender } = senderHarness(never, { size: 2, maxQueueMessages: 3 })
    add(2)
    await settled()
    add(3)
    expect(() => add(1)).toThrow(QueueFull)
    expect(sender.counts).toEqual({ queued: 5, sent: 0, failed: 0, dropped: 0, waiting: 5 })
  })

  it('is also limited in bytes', async () => {
    const { add, sender } = senderHarness(never, { size: 1, maxQueueBytes: 50_000 })
    add(1)
    await settled()
    add(2, 25_000)
    expect(() => add(1, 1)).toThrow(
      'The queue is full (2 messages, 50000 bytes): the program queues messages faster than the client sends them.',
    )
    expect(sender.queuedBytes).toBe(50_000)
  })

  it('is flushed immediately at the byte limit', async () => {
    const { add, sizes } = senderHarness(always(taken), { maxQueueBytes: 50_000 })
    add(2, 25_000)
    expect(() => add(1, 1)).toThrow(QueueFull)
    await settled()
    expect(sizes()).toEqual([2])
  })

  it('drop-oldest: drops and reports the oldest message', async () => {
    const { add, sender, failures } = senderHarness(never, { size: 1, maxQueueMessages: 2, onFull: 'drop-oldest' })
    add(1)
    await settled()
    add(4)
    expect(failures.map(({ reason, messageIds }) => [reason, ...messageIds])).toEqual([
      ['queue_full', 'm2'],
      ['queue_full', 'm3'],
    ])
    expect(sender.counts).toEqual({ queued: 5, sent: 0, failed: 0, dropped: 2, waiting: 3 })
  })

  it('wait: the promise resolves when there is room; a call throws at twice the limit', async () => {
    let open = (_: SendResult): void => {}
    const gate: Respond = () =>
      new Promise(resolve => {
        open = resolve
      })
    const { add, sender, clock } = senderHarness(gate, { size: 1, maxQueueMessages: 2, onFull: 'wait' })
    add(1)
    await settled()
    add(2)
    let hasRoom = false
    const room = sender.add(entry('waits')).then(() => {
      hasRoom = true
    })
    await settled()
    expect({ hasRoom, holds: clock.holds }).toEqual({ hasRoom: false, holds: 1 })
    add(1)
    expect(() => add(1)).toThrow(QueueFull)
    for (let batch = 0; batch < 3; batch += 1) {
      open(taken)
      await settled()
    }
    await room
    expect(clock.holds).toBe(0)
  })
})

describe('a listener that queues each failed message again', () => {
  const never: Respond = () => new Promise(() => {})

  /**
   * Creates a sender whose listener adds failed messages again, and throws at the 101st failure to
   * end the test. `thrown`: errors of `add`.
   */
  function requeueing(respond: Respond, settings: Partial<QueueSettings>) {
    const thrown: unknown[] = []
    const harness = senderHarness(respond, settings, ({ messageIds }) => {
      if (harness.failures.length > 100) throw new Error('more than 100 failures')
      for (const id of messageIds) {
        try {
          void harness.sender.add(entry(id))
        } catch (error) {
          thrown.push(error)
        }
      }
    })
    return { ...harness, thrown }
  }

  it('drop-oldest: its call throws while the queue is full', async () => {
    const settings = { size: 1, maxQueueMessages: 2, onFull: 'drop-oldest' } as const
    const { add, sender, failures, thrown } = requeueing(never, settings)
    add(1)
    await settled()
    add(3)
    expect(failures.map(({ messageIds }) => messageIds)).toEqual([['m2']])
    expect(thrown).toEqual([expect.any(QueueFull)])
    expect(sender.counts).toEqual({ queued: 4, sent: 0, failed: 0, dropped: 1, waiting: 3 })
    add(1)
    expect(failures.map(({ messageIds }) => messageIds)).toEqual([['m2'], ['m3']])
  })

  it('drop-oldest: its call uses the room that a larger message has left', async () => {
    const settings = { size: 1, maxQueueBytes: 1_000, onFull: 'drop-oldest' } as const
    const { add, sender, failures, thrown } = requeueing(never, settings)
    add(1)
    await settled()
    add(2, 500)
    add(1, 850)
    expect(failures.map(({ messageIds }) => messageIds)).toEqual([['m2'], ['m3']])
    expect(thrown).toEqual([expect.any(QueueFull)])
    expect(sender.counts).toEqual({ queued: 5, sent: 0, failed: 0, dropped: 2, waiting: 3 })
  })

  it('flush resolves when each message has one result', async () => {
    const { add, sender, failures } = requeueing(always({ kind: 'refused', trouble }), { size: 20 })
    add(1)
    await sender.flush()
    expect(failures.length).toBeGreaterThan(0)
    expect(sender.counts.waiting).toBe(1)
  })

  it('drain ends at its time limit, where its call throws', async () => {
    const { add, sender, thrown, advance } = requeueing(always(retry()), {})
    add(1)
    const drained = sender.drain(1_000)
    await advance(1_000)
    expect(thrown).toEqual([expect.any(Closed)])
    await drained
    expect(sender.counts).toEqual({ queued: 1, sent: 0, failed: 1, dropped: 0, waiting: 0 })
    add(1)
    expect(sender.counts.waiting).toBe(1)
  })
})
