import { describe, expect, it } from '@jest/globals'
import { Analytics } from '../../../packages/client/src/analytics.ts'
import type { Track } from '../../../packages/client/src/call-types.ts'
import { entryOf } from '../../../packages/client/src/validate-and-serialise-call.ts'
import { library } from '../../../packages/client/src/version.ts'
import { batchOf, failure, transportOn } from '../../support/client/kafka-transport-harness.ts'
import { transportOnProducer } from '../../support/client/kafka-transport-on-services-producer.ts'
import { settled } from '../../support/client/sender-harness.ts'

const deep = (levels: number): object => (levels === 0 ? {} : { in: deep(levels - 1) })

describe('a message becomes the same record as with a collector', () => {
  it('with all fields', async () => {
    const { send, appended, clock } = transportOn()
    const call = {
      userId: 17n,
      anonymousId: 'a-1',
      event: 'Order Completed',
      properties: { total: 39.9, at: new Date(0), none: undefined },
      context: { ip: '203.0.113.7', integrations: { Webhooks: true } },
      integrations: { All: false },
      timestamp: '2012-12-02T00:30:08.276Z',
    }
    const entry = entryOf('track', call, { now: () => 0, newId: () => 'm-1' })
    expect(await send({ id: 'b', messages: [entry] })).toEqual({ kind: 'taken', rejected: [] })
    expect(appended.map(({ key, event }) => ({ key, event }))).toEqual([
      {
        key: '17',
        event: {
          sourceId: 'web',
          destinationId: undefined,
          receivedAt: clock.now(),
          canonical: true,
          origin: undefined,
          message: {
            type: 'track',
            messageId: 'm-1',
            userId: '17',
            anonymousId: 'a-1',
            groupId: undefined,
            previousId: undefined,
            event: 'Order Completed',
            name: undefined,
            category: undefined,
            timestamp: Date.parse('2012-12-02T00:30:08.276Z'),
            properties: '{"total":39.9,"at":"1970-01-01T00:00:00.000Z"}',
            traits: undefined,
            context: JSON.stringify({ library, ip: '203.0.113.7' }),
            integrations: '{"Webhooks":true,"All":false}',
          },
        },
      },
    ])
  })

  it('corrects the times of current messages if the clock of the machine is a day slow', async () => {
    const { send, appended, clock } = transportOn(undefined, -86_400_000)
    const called = clock.now() - 86_400_000 - 1_000
    const imported = Date.parse('2012-12-02T00:30:08.276Z')
    await send(batchOf(2, index => ({ timestamp: index === 0 ? called : imported })))
    expect(appended.map(({ event }) => event.message.timestamp)).toEqual([clock.now() - 1_000, imported])
  })

  it('fails only an invalid message, with the code of the collector', async () => {
    const { send, stored } = transportOn()
    const batch = batchOf(3, index => (index === 1 ? { properties: deep(101) } : {}))
    const detail = 'properties is nested more than 100 levels deep: flatten it.'
    expect(await send(batch)).toEqual({ kind: 'taken', rejected: [{ index: 1, code: 'too_deep', detail }] })
    expect(stored.map(({ event }) => event.message.messageId)).toEqual(['m0', 'm2'])
  })

  it('writes nothing for a batch of invalid messages', async () => {
    const { send, appended } = transportOn()
    const batch = batchOf(2, () => ({ properties: deep(101) }))
    expect(await send(batch)).toMatchObject({ kind: 'taken', rejected: [{ index: 0 }, { index: 1 }] })
    expect(appended).toEqual([])
  })

  it('an onFailure that queues an invalid message again does not block the process', async () => {
    let failures = 0
    const analytics = new Analytics({
      transport: transportOn().transport,
      size: 1,
      onFailure({ messages: [message] }) {
        failures += 1
        if (failures < 1_000) void analytics.track(message as unknown as Track)
      },
    })
    void analytics.track({ userId: 'u', event: 'E', properties: { ...deep(101) } })
    await settled()
    expect(failures).toBeLessThan(1_000)
    failures = 1_000
    await analytics.close()
  })
})

describe('a record that Kafka rejects', () => {
  it.each([
    ['temporary error', failure('NOT_ENOUGH_REPLICAS', true), 'retry'],
    ['permanent error', failure('TOPIC_AUTHORIZATION_FAILED', false), 'refused'],
    ['unknown error', new Error('who knows'), 'retry'],
  ])('%s', async (_, error, kind) => {
    const { send } = transportOn(() => error)
    expect(await send(batchOf(3))).toMatchObject({ kind, trouble: { detail: expect.stringContaining(error.message) } })
  })

  it('reports a missing topic with a remedy', async () => {
    const { send } = transportOn(() => failure('TOPIC_MISSING', false, 'topic hookline.events does not exist'))
    const detail =
      'Kafka did not acknowledge the message: topic hookline.events does not exist; create it with: hookline topics apply.'
    expect(await send(batchOf(1))).toEqual({ kind: 'refused', trouble: { code: 'TOPIC_MISSING', detail } })
  })

  it('refuses the valid messages if the topic is missing and another message of the batch is invalid', async () => {
    const { send } = transportOn(() => failure('TOPIC_MISSING', false))
    expect(await send(batchOf(2, index => (index === 0 ? { properties: deep(101) } : {})))).toMatchObject({
      kind: 'taken',
      rejected: [
        { index: 0, code: 'too_deep' },
        { index: 1, reason: 'refused', code: 'TOPIC_MISSING' },
      ],
    })
  })

  it('fails only a record that is too large', async () => {
    const error = failure('MESSAGE_TOO_LARGE', false)
    const { send } = transportOn(({ key }) => (key === 'u1' ? error : 'stored'))
    const rejected = [
      { index: 1, code: 'MESSAGE_TOO_LARGE', detail: 'Kafka did not acknowledge the message: it broke.' },
    ]
    expect(await send(batchOf(3))).toEqual({ kind: 'taken', rejected })
  })

  it('retries only records that are not stored, with the same bytes', async () => {
    const fails = new Set(['u1', 'u2'])
    const { send, appended, stored } = transportOn(({ key }, turn) =>
      turn <= 4 && fails.has(key) ? failure('NOT_LEADER_FOR_PARTITION', true) : 'stored',
    )
    const batch = batchOf(4)
    expect(await send(batch)).toMatchObject({ kind: 'retry', trouble: { code: 'NOT_LEADER_FOR_PARTITION' } })
    expect(await send(batch)).toEqual({ kind: 'taken', rejected: [] })
    expect(appended.map(({ key }) => key)).toEqual(['u0', 'u1', 'u2', 'u3', 'u1', 'u2'])
    expect(appended[4]?.value).toBe(appended[1]?.value)
    expect(stored).toHaveLength(4)
  })

  it('after a failed request, later messages of the batch are sent only with the retry', async () => {
    const { send, sizes, stored } = transportOnProducer((_, turn) => (turn === 1 ? 'failed' : 'stored'))
    const batch = batchOf(2_500, () => ({ userId: 'u' }))
    expect(await send(batch)).toMatchObject({ kind: 'retry', trouble: { code: 'LEADER_NOT_AVAILABLE' } })
    expect(stored).toEqual([])
    expect(await send(batch)).toEqual({ kind: 'taken', rejected: [] })
    expect(sizes).toEqual([1_000, 1_000, 1_000, 500])
    expect(stored).toEqual(batch.messages.map(({ messageId }) => messageId))
  })

  it('reports rejected messages once, after all retries', async () => {
    const { send } = transportOn((_, turn) => (turn === 1 ? failure('REQUEST_TIMED_OUT', true) : 'stored'))
    const batch = batchOf(2, index => (index === 0 ? { properties: deep(101) } : {}))
    expect(await send(batch)).toMatchObject({ kind: 'retry' })
    expect(await send(batch)).toMatchObject({ kind: 'taken', rejected: [{ index: 0, code: 'too_deep' }] })
  })

  it('retries if any error is temporary', async () => {
    const { send } = transportOn(({ key }) => failure(key === 'u0' ? 'MESSAGE_TOO_LARGE' : 'X', key !== 'u0'))
    expect(await send(batchOf(2))).toMatchObject({ kind: 'retry', trouble: { code: 'X' } })
  })
})

describe('the connection', () => {
  it('is opened once, with the first batch', async () => {
    const { send, tally } = transportOn()
    expect(tally.opened).toBe(0)
    await Promise.all([send(batchOf(1)), send(batchOf(1))])
    await send(batchOf(1))
    expect(tally).toMatchObject({ opened: 1, flushed: 3 })
  })

  it.each([
    ['unavailable registry', failure('registry_unavailable'), 'retry'],
    ['missing schema', failure('schema_not_registered'), 'refused'],
    ['unsupported library version', failure('LIBRARY_VERSION', false), 'refused'],
  ])('%s; the next batch tries again', async (_, error, kind) => {
    const { send, appended, failOpening } = transportOn()
    failOpening(error)
    expect(await send(batchOf(1))).toMatchObject({ kind, trouble: { code: (error as Error & { code: string }).code } })
    expect(appended).toEqual([])
    expect(await send(batchOf(1))).toMatchObject({ kind: 'taken' })
  })

  it('keeps the process alive only while records are in progress', async () => {
    const { send, clock } = transportOn()
    const sending = send(batchOf(1))
    expect(clock.holds).toBe(1)
    await sending
    expect(clock.holds).toBe(0)
  })
})

describe('abort and close', () => {
  it('does not wait for an aborted attempt', async () => {
    const { transport, send, clock, closeWith } = transportOn(() => 'never')
    closeWith(() => new Promise(() => {}))
    const abort = new AbortController()
    const sending = send(batchOf(2), abort.signal)
    await settled()
    abort.abort()
    expect(await sending).toMatchObject({ kind: 'retry' })
    expect(clock.holds).toBe(0)
    await transport.close?.()
  })

  it('an already aborted signal ends an attempt immediately', async () => {
    const { send } = transportOn(() => 'never')
    expect(await send(batchOf(1), AbortSignal.abort())).toMatchObject({ kind: 'retry' })
  })

  it('closes the connections once and waits for it', async () => {
    const { transport, send, tally, closeWith } = transportOn()
    await send(batchOf(1))
    let isClosed = false
    closeWith(async () => {
      await settled()
      isClosed = true
    })
    await transport.close?.()
    expect(isClosed).toBe(true)
    await transport.close?.()
    expect(tally.closed).toBe(1)
  })

  it('ignores errors while closing', async () => {
    const { transport, closeWith } = transportOn()
    closeWith(() => Promise.reject(new Error('broken')))
    await expect(transport.close?.()).resolves.toBeUndefined()
  })
})
