import { describe, expect, it } from '@jest/globals'
import type { ObjectChange } from '../../../../src/core/config-objects/config-objects.ts'
import { factsSource } from '../../../../src/core/message/own-event-builder-and-source-ids.ts'
import { encodeFacts } from '../../../../src/core/notices/destination-facts.ts'
import type { CallResult } from '../../../../src/core/webhook-ports.ts'
import { messageOf } from '../../../support/builders.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const second = 1_000
const minute = 60 * second

/** `crm` gets the messages, and `ops` gets the notices. */
async function started(answer: (host: string) => CallResult) {
  const hostOf = (url: string): string => new URL(url).hostname.split('.')[0] ?? ''
  const harness = await DispatcherHarness.started({
    destinations: [destination('crm'), destination('ops', { sources: ['web'] })],
    answer: ({ url }) => answer(hostOf(url)),
  })
  harness.notices = { destination: 'ops' }
  const bodies = () =>
    harness.calls
      .map(({ call }) => ({
        to: hostOf(call.url),
        id: call.headers['X-Message-Id'],
        ...JSON.parse(call.body.toString()),
      }))
      .filter(({ id }) => id?.startsWith('notice-'))
  const seen = () => bodies().map(({ event, properties }) => [event, properties])
  const send = (count: number) => {
    for (let index = 0; index < count; index++)
      harness.write({ message: messageOf({ messageId: `m${index}`, userId: `u${index}` }) })
  }
  return { harness, bodies, seen, send }
}

describe('notices', () => {
  it('report an outage and its end, only to their destination', async () => {
    let isUp = false
    const { harness, bodies, seen, send } = await started(host => (host === 'ops' || isUp ? ok : answered(503)))
    send(20)
    await harness.advance(5 * second)
    expect(seen()).toEqual([['Destination Failing', { destination: 'crm', outcomes: ['http_5xx'] }]])
    isUp = true
    await harness.advance(2 * minute)
    expect(seen()[1]).toEqual([
      'Destination Recovered',
      { destination: 'crm', outcomes: ['delivered'], failingSince: expect.any(String) },
    ])
    expect(bodies().map(({ to, type, anonymousId }) => [to, type, anonymousId])).toEqual(
      Array(2).fill(['ops', 'track', 'destination/crm']),
    )
  })

  it('count dead letters by reason, once a minute', async () => {
    const { harness, seen, send } = await started(host => (host === 'ops' ? ok : answered(404)))
    send(3)
    await harness.advance(5 * second)
    send(2)
    await harness.advance(30 * second)
    expect(seen()).toEqual([
      ['Deliveries Dead-Lettered', expect.objectContaining({ destination: 'crm', count: 3, reasons: { http_4xx: 3 } })],
    ])
    await harness.advance(minute)
    expect(seen()).toHaveLength(2)
    expect(seen()[1]?.[1]).toMatchObject({ count: 2, reasons: { http_4xx: 2 } })
  })

  it('report an endpoint that is gone', async () => {
    const { harness, seen, send } = await started(host => (host === 'ops' ? ok : answered(410)))
    send(1)
    await harness.advance(5 * second)
    expect(seen()).toContainEqual(['Destination Gone', { destination: 'crm', webhooks: ['0'] }])
  })

  it('report an endpoint that is gone again when its webhook has got a new URL', async () => {
    const { harness, seen, send } = await started(host => (host === 'ops' ? ok : answered(410)))
    send(1)
    await harness.advance(2 * minute)
    send(1)
    await harness.advance(2 * minute)
    const goneNotices = () => seen().filter(([event]) => event === 'Destination Gone')
    expect(goneNotices()).toHaveLength(1)
    const [webhook] = harness.destinations[0]!.webhooks
    harness.destinations = [
      destination('crm', { webhooks: [{ ...webhook!, urlHash: '11111111' }] }),
      destination('ops', { sources: ['web'] }),
    ]
    send(1)
    await harness.advance(2 * minute)
    expect(goneNotices()).toHaveLength(2)
  })

  it('report that a destination was disabled while the process runs', async () => {
    const { harness, seen } = await started(() => ok)
    await harness.advance(5 * second)
    harness.destinations = [destination('crm', { enabled: false }), destination('ops')]
    await harness.advance(5 * second)
    expect(seen()).toEqual([['Destination Disabled', { destination: 'crm' }]])
    await harness.advance(minute)
    expect(seen()).toHaveLength(1)
  })

  it('report who changed which fields of an object, but not its values', async () => {
    const { harness, seen } = await started(() => ok)
    const change: ObjectChange = {
      ...{ kind: 'source', id: 'web', version: 3, action: 'updated', by: 'ada', at: harness.clock.now() },
      fields: ['writeKey[0]'],
    }
    harness.changeObject(change)
    harness.changeObject({ ...change, kind: 'destination', id: 'ops' })
    harness.changeObject({ ...change, by: 'hookline.key-rotation', fields: [] })
    await harness.advance(5 * second)
    expect(seen()).toEqual([
      ['Configuration Changed', expect.objectContaining({ id: 'web', changedBy: 'ada', fields: ['writeKey[0]'] })],
    ])
  })

  it('are not sent about their own destination', async () => {
    const { harness, seen, send } = await started(() => answered(410))
    send(20)
    await harness.advance(10 * minute)
    const events = new Set(seen().map(([event]) => event))
    expect(events).toEqual(new Set(['Destination Gone', 'Deliveries Dead-Lettered']))
    expect(seen().every(([, { destination: about }]) => about === 'crm')).toBe(true)
    harness.destinations = [destination('crm'), destination('ops', { enabled: false })]
    const before = harness.log.records(harness.topics.events).length
    await harness.advance(minute)
    expect(harness.log.records(harness.topics.events)).toHaveLength(before)
  })

  it('are not stopped by the filter of their destination', async () => {
    const { harness, seen, send } = await started(host => (host === 'ops' ? ok : answered(410)))
    harness.destinations = [destination('crm'), destination('ops', { filter: { types: ['page'] } })]
    send(1)
    await harness.advance(5 * second)
    expect(seen()).toHaveLength(2)
  })

  it('are not written without the setting, not even those of facts from before it', async () => {
    const { harness, seen, send } = await started(host => (host === 'ops' ? ok : answered(410)))
    harness.notices = undefined
    send(1)
    await harness.advance(minute)
    harness.notices = { destination: 'ops' }
    await harness.advance(minute)
    expect([seen(), harness.log.records(harness.topics.events).length]).toEqual([[], 1])
  })

  it('begin within five seconds after the setting was added', async () => {
    const { harness, seen, send } = await started(host => (host === 'ops' ? ok : answered(410)))
    harness.notices = undefined
    await harness.advance(40 * second)
    harness.notices = { destination: 'ops' }
    send(1)
    await harness.advance(5 * second)
    expect(seen()).toContainEqual(['Destination Gone', { destination: 'crm', webhooks: ['0'] }])
  })

  it('are not written while their destination does not exist', async () => {
    const { harness, seen, send } = await started(host => (host === 'ops' ? ok : answered(410)))
    harness.destinations = [destination('crm')]
    send(1)
    await harness.advance(minute)
    expect([seen(), harness.log.records(harness.topics.events).length]).toEqual([[], 1])
  })

  it('are made only from facts about configured destinations', async () => {
    const { harness, seen } = await started(() => ok)
    for (const properties of [
      encodeFacts({ destination: 'gone', health: 'failing', outcomes: [], gone: [], deadLetters: {} }),
      '{}' as ReturnType<typeof encodeFacts>,
    ])
      harness.write({ sourceId: factsSource, message: messageOf({ properties }) })
    await harness.advance(minute)
    expect(seen()).toEqual([])
    expect(harness.log.committed('live', harness.topics.events)).toBe(2)
  })
})

describe('while Kafka does not store them', () => {
  it('notices wait, deliveries continue, and one line is logged', async () => {
    const { harness, seen, send } = await started(host => (host === 'ops' ? ok : answered(404)))
    harness.log.unwritable.add(harness.topics.events)
    send(1)
    await harness.advance(minute)
    expect(harness.log.records(harness.topics.deadLetter)).toHaveLength(1)
    expect(harness.lines.filter(({ line }) => line.includes('hookline could not write notices'))).toHaveLength(1)
    harness.log.unwritable.clear()
    await harness.advance(5 * second)
    expect(seen().map(([event]) => event)).toEqual(['Deliveries Dead-Lettered'])
  })
})

it('only the owner of partition 0 reports changes of the configuration', async () => {
  const { harness, seen } = await started(() => ok)
  await harness.advance(5 * second)
  harness.live.handlers?.onRevoked([{ topic: harness.topics.events, partition: 0 }])
  harness.destinations = [destination('crm', { enabled: false }), destination('ops')]
  await harness.advance(minute)
  expect(harness.log.records(harness.topics.events)).toHaveLength(0)
  expect(seen()).toEqual([])
})

it('after a revocation, the next owner sends the notices that waited', async () => {
  const { harness, bodies, seen, send } = await started(host => (host === 'ops' ? ok : answered(404)))
  send(1)
  await harness.advance(5 * second)
  send(2)
  await harness.advance(10 * second)
  expect(seen()).toHaveLength(1)
  await harness.live.handlers?.onRevoking([{ topic: harness.topics.events, partition: 0 }], Number.POSITIVE_INFINITY)
  harness.live.rebalance()
  await harness.advance(second)
  expect(seen().map(([, { count }]) => count)).toEqual([1, 2])
  expect(new Set(bodies().map(({ id }) => id)).size).toBe(2)
})

it('the next owner of partition 0 reports the changes of the last minute', async () => {
  const { harness, seen } = await started(() => ok)
  const changeOf = (id: string): ObjectChange => ({
    ...{ kind: 'source', id, version: 1, action: 'created', by: 'ada', at: harness.clock.now(), fields: [] },
  })
  await harness.advance(5 * second)
  harness.live.handlers?.onRevoked([{ topic: harness.topics.events, partition: 0 }])
  harness.changeObject(changeOf('old'))
  await harness.advance(minute)
  harness.changeObject(changeOf('new'))
  harness.destinations = [destination('crm', { enabled: false }), destination('ops')]
  await harness.advance(30 * second)
  expect(seen()).toEqual([])
  harness.live.rebalance()
  await harness.advance(minute)
  expect(seen()).toEqual([
    ['Configuration Changed', expect.objectContaining({ id: 'new' })],
    ['Destination Disabled', { destination: 'crm' }],
  ])
})

it('after a stop, the facts that are left are in the events topic', async () => {
  const { harness, send } = await started(host => (host === 'ops' ? ok : answered(404)))
  send(1)
  await harness.advance(second)
  const stopped = harness.service.stop()
  await harness.advance(minute)
  await stopped
  expect(harness.written(harness.topics.events).at(-1)).toMatchObject({ sourceId: factsSource })
})

it('after a stop, the last changes of the configuration are in the events topic', async () => {
  const { harness } = await started(() => ok)
  await harness.advance(5 * second)
  harness.destinations = [destination('crm', { enabled: false }), destination('ops')]
  const stopped = harness.service.stop()
  await harness.advance(minute)
  await stopped
  expect(harness.written(harness.topics.events)).toMatchObject([{ message: { event: 'Destination Disabled' } }])
})

it('after a stop, the facts about thousands of destinations are in the events topic', async () => {
  const ids = Array.from({ length: 1_500 }, (_, index) => `crm-${index}`)
  const harness = await DispatcherHarness.started({
    destinations: [destination('ops', { sources: [] }), ...ids.map(id => destination(id))],
    answer: () => answered(404),
  })
  harness.notices = { destination: 'ops' }
  harness.write({ message: messageOf({ messageId: 'm', userId: 'u' }) })
  await harness.advance(second)
  const stopped = harness.service.stop()
  await harness.advance(minute)
  await stopped
  // The first record is the message whose deliveries are dead-lettered.
  expect(harness.log.records(harness.topics.events)).toHaveLength(1 + ids.length)
})
