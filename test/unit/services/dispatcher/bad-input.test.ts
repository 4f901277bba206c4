import { describe, expect, it } from '@jest/globals'
import { DispatcherHarness, defaultSchedule } from '../../../support/dispatcher-harness.ts'
import { trackMessage } from '../../../support/messages.ts'

describe('bad input goes to the dead-letter topic with its reason and its bytes; the partition moves on', () => {
  const message = trackMessage('m1')
  it.each([
    ['bytes that are no event', Buffer.from('garbage'), 'undecodable', ''],
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
    await harness.advance(10)
    const [deadLetter] = harness.log.records(harness.topics.deadLetter)
    expect(deadLetter?.headers).toMatchObject({ reason, outcomes: code })
    expect(deadLetter?.value).toEqual(value ?? Buffer.alloc(0))
    expect(deadLetter?.headers['null-value']).toBe(value === null ? '1' : undefined)
    expect(deadLetter?.key?.toString()).toBe('-/hookline.events/0/0/0')
    expect(harness.log.committed('live', harness.topics.events)).toBe(2)
    expect(harness.calls).toHaveLength(1)
  })

  it('a retry record whose headers are not ours', async () => {
    const harness = await DispatcherHarness.started()
    harness.log.write(harness.topics.retry(defaultSchedule[0]!), Buffer.from('{}'), 'key', { destination: 'crm' })
    await harness.advance(20_000)
    expect(harness.log.records(harness.topics.deadLetter)[0]?.headers['reason']).toBe('undecodable')
  })
})

describe('schema registry', () => {
  it('an unknown id holds its partition, in order, until the registry answers', async () => {
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
})
