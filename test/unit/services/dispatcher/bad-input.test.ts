import { describe, expect, it, jest } from '@jest/globals'
import { retryRecord } from '../../../../src/core/delivery/delivery-state.ts'
import { storedMessageId } from '../../../../src/core/message/message-ids-and-required-identifiers.ts'
import type { EventCodec } from '../../../../src/core/ports.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import { carriedOf, later, recordOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, defaultSchedule } from '../../../support/dispatcher/harness.ts'

describe('bad input is dead-lettered with its reason and bytes, and does not block the partition', () => {
  const message = trackMessage('m1')
  it.each([
    ['bytes that are not an event', Buffer.from('garbage'), 'undecodable', ''],
    ['a null value', null, 'undecodable', ''],
    ['a schema id that the registry does not know', Buffer.from('schema:404:{}'), 'undecodable', ''],
    [
      'an unknown source',
      Buffer.from(JSON.stringify({ sourceId: 'nobody', canonical: true, message })),
      'unknown_source',
      '',
    ],
    [
      'a message that normalise rejects',
      Buffer.from(
        JSON.stringify({ sourceId: 'web', canonical: false, receivedAt: 0, message: { type: 'track', userId: 'u' } }),
      ),
      'invalid_message',
      'missing_event',
    ],
  ])('%s', async (_name, value, reason, code) => {
    const harness = await DispatcherHarness.started()
    harness.log.write(harness.topics.events, value, 'key')
    harness.write({ message })
    // An event of an unknown source is deferred for 100 s, because the source may be configured
    // soon.
    await harness.advance(reason === 'unknown_source' ? 110_000 : 10)
    const [deadLetter] = harness.log.records(harness.topics.deadLetter)
    expect(deadLetter?.headers).toMatchObject({ reason, outcomes: code })
    expect(deadLetter?.value).toEqual(value ?? Buffer.alloc(0))
    expect(deadLetter?.headers['null-value']).toBe(value === null ? '1' : undefined)
    expect(deadLetter?.key?.toString()).toBe(
      `-/hookline.events/0/0/${harness.log.records(harness.topics.events)[0]?.timestamp}/0`,
    )
    expect(harness.log.committed('live', harness.topics.events)).toBe(2)
    expect(harness.calls).toHaveLength(1)
  })

  it('an event whose schema the registry does not know is logged', async () => {
    const harness = await DispatcherHarness.started()
    harness.log.write(harness.topics.events, Buffer.from('schema:404:{}'), 'key')
    await harness.advance(10)
    expect(harness.lines).toContainEqual({
      level: 'warn',
      line: 'hookline cannot process the record as an event (see "detail"), and dead-letters it with the reason "undecodable": find the program that wrote the record, and correct the program or its schema',
      fields: {
        ...{ topic: harness.topics.events, partition: 0, offset: 0 },
        detail: 'the schema registry does not know the schema of the record',
      },
    })
  })

  it('a retry record with foreign headers', async () => {
    const harness = await DispatcherHarness.started()
    harness.log.write(harness.topics.retry(defaultSchedule[0]!), Buffer.from('{}'), 'key', { destination: 'crm' })
    await harness.advance(20_000)
    expect(harness.log.records(harness.topics.deadLetter)[0]?.headers['reason']).toBe('undecodable')
  })

  it('a retry record with one malformed header keeps its destination and its message id', async () => {
    const harness = await DispatcherHarness.started()
    const { value, headers } = retryRecord(recordOf(), carriedOf({ destination: 'crm' }))
    const malformed = { ...headers, 'not-before': 'soon' }
    harness.log.write(harness.topics.retry(defaultSchedule[0]!), value, 'key', malformed)
    await harness.advance(20_000)
    expect(harness.log.records(harness.topics.deadLetter)[0]?.headers).toMatchObject({
      ...{ reason: 'undecodable', destination: 'crm' },
      ...{ 'message-id': headers['message-id'], 'origin-topic': headers['origin-topic'] },
    })
  })

  it.each([
    ['a retry record whose schema the registry has lost', 'schema:404:{}'],
    ['a retry record whose bytes are damaged', '{'],
  ])('%s keeps its destination', async (_name, text) => {
    const harness = await DispatcherHarness.started()
    const carried = carriedOf({ destination: 'crm', messageId: 'm1', deadline: later('4h', harness.clock.now()) })
    const retry = retryRecord(recordOf({ value: Buffer.from(text) }), carried)
    harness.log.write(harness.topics.retry(defaultSchedule[0]!), retry.value, 'key', retry.headers)
    await harness.advance(20_000)
    const [deadLetter] = harness.log.records(harness.topics.deadLetter)
    expect(deadLetter?.headers).toMatchObject({ reason: 'undecodable', destination: 'crm', 'message-id': 'm1' })
  })
})

describe('a replayed foreign event', () => {
  const { messageId: _, ...message } = trackMessage('')
  const event = Buffer.from(JSON.stringify({ sourceId: 'web', canonical: false, receivedAt: 0, message }))

  it('has the id and time of its first position, in every copy and attempt', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(500) })
    const decode = jest.spyOn(harness.codec as EventCodec, 'decode')
    const headers = { 'replay-of': 'hookline.events/3/41/1795248000000' }
    harness.log.write(harness.topics.events, event, 'k', headers)
    harness.log.write(harness.topics.events, event, 'k', headers)
    await harness.advance(15_000)
    expect(harness.calls.map(({ call }) => call.headers['X-Message-Id'])).toEqual(Array(4).fill('hookline.events/3/41'))
    expect(decode.mock.calls.map(([, receivedAt]) => receivedAt)).toEqual(Array(4).fill(1_795_248_000_000))
  })

  it('is not counted by the delay of first attempts, because it waited for an operator', async () => {
    const harness = await DispatcherHarness.started()
    harness.log.write(harness.topics.events, event, 'k', { 'replay-of': 'hookline.events/3/41/1795248000000' })
    harness.log.write(harness.topics.events, event, 'k')
    await harness.advance(10)
    expect(harness.calls).toHaveLength(2)
    expect(harness.count('firstAttemptDelay{}')).toBe(1)
  })

  it('has the hash of a position of more than 100 characters as its id', async () => {
    const harness = await DispatcherHarness.started()
    const position = `${topicNames('p'.repeat(200)).events}/3/41`
    harness.log.write(harness.topics.events, event, 'k', { 'replay-of': `${position}/0` })
    await harness.advance(10)
    const id = storedMessageId(position)
    expect(id).toMatch(/^sha256:/)
    expect(harness.calls.map(({ call }) => call.headers['X-Message-Id'])).toEqual([id])
  })

  it.each(['hookline.events/3/41', 'hookline.events/3/-1/0', 'x y/3/41/0', ''])(
    'has those of its own record when %j is not a position',
    async header => {
      const harness = await DispatcherHarness.started()
      harness.log.write(harness.topics.events, event, 'k', { 'replay-of': header })
      await harness.advance(10)
      expect(harness.calls.map(({ call }) => call.headers['X-Message-Id'])).toEqual(['hookline.events/0/0'])
    },
  )
})

describe('schema registry', () => {
  it('an unknown schema id pauses its partition until the registry answers', async () => {
    const harness = await DispatcherHarness.started()
    harness.codec.registryIsDown = true
    const event = (id: string): string =>
      JSON.stringify({ sourceId: 'web', canonical: true, receivedAt: 0, message: trackMessage(id) })
    harness.log.write(harness.topics.events, Buffer.from(`schema:7:${event('m1')}`), 'k')
    harness.log.write(harness.topics.events, Buffer.from(event('m2')), 'k')
    await harness.advance(3_500)
    expect(harness.calls).toEqual([])
    expect(harness.log.committed('live', harness.topics.events)).toBe(0)
    harness.codec.registryIsDown = false
    await harness.advance(1_000)
    expect(harness.calls.map(({ call }) => call.headers['X-Message-Id'])).toEqual(['m1', 'm2'])
    expect(harness.log.committed('live', harness.topics.events)).toBe(2)
  })

  it('an answer of the registry during a stop writes nothing; the next owner handles the record', async () => {
    const harness = await DispatcherHarness.started()
    harness.codec.registryIsDown = true
    harness.log.write(harness.topics.events, Buffer.from('schema:404:{}'), 'k')
    await harness.advance(1)
    const stopped = harness.service.stop()
    harness.codec.registryIsDown = false
    await harness.advance(3_000)
    await stopped
    expect(harness.log.records(harness.topics.deadLetter)).toEqual([])
    expect(harness.log.committed('live', harness.topics.events)).toBe(0)
  })
})
