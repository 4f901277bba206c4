import { describe, expect, it } from '@jest/globals'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import { audiencesSource, canarySource } from '../../../../src/core/message/own-event-builder-and-source-ids.ts'
import type { DestinationFilter } from '../../../../src/core/settings/settings.ts'
import { messageOf } from '../../../support/builders.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const large: DestinationFilter = { where: [{ path: 'properties.total', op: 'gte', value: 10 }] }
const none: DestinationFilter = { events: { exclude: ['*'] }, types: ['page'] }

/** Writes orders with these totals, by message id. */
const writeOrders = (
  harness: DispatcherHarness,
  totals: Readonly<Record<string, number>>,
  given: Partial<Event> = {},
) => {
  for (const [messageId, total] of Object.entries(totals)) {
    const properties = JSON.stringify({ total }) as JsonText
    harness.write({ message: messageOf({ messageId, event: 'Order Completed', properties }), ...given })
  }
}

/** The requests as `destination message-id`. */
const sent = (harness: DispatcherHarness): readonly string[] =>
  harness.calls.map(({ call }) => `${new URL(call.url).hostname.split('.')[0]} ${call.headers['X-Message-Id']}`)

it('a filter does not affect other destinations; its filtered events are counted and committed', async () => {
  const harness = await DispatcherHarness.started({
    destinations: [destination('crm', { filter: large }), destination('lake')],
  })
  writeOrders(harness, { a: 5, b: 10, c: 9.99 })
  await harness.advance(1)
  expect([...sent(harness)].sort()).toEqual(['crm b', 'lake a', 'lake b', 'lake c'])
  expect(harness.count('drops{filtered}')).toBe(2)
  expect(harness.count('deliveries{crm,delivered}')).toBe(1)
  expect(harness.log.committed('live', harness.topics.events)).toBe(3)
})

describe('a filter never stops', () => {
  const setUp = () => DispatcherHarness.started({ destinations: [destination('crm', { filter: none })] })

  it('a delete message', async () => {
    const harness = await setUp()
    const origin = { kind: 'deletion', id: 'd-1', version: undefined, destinations: ['crm'] } as const
    harness.write({ origin, message: messageOf({ type: 'delete', messageId: 'delete-1', event: undefined }) })
    await harness.advance(1)
    expect(sent(harness)).toEqual(['crm delete-1'])
  })

  it('an audience change', async () => {
    const harness = await setUp()
    const message = messageOf({ type: 'identify', messageId: 'change-1', event: undefined, traits: '{}' as JsonText })
    const origin = { kind: 'audience', id: 'shoppers', version: 1 } as const
    harness.write({ sourceId: audiencesSource, destinationId: 'crm', origin, message })
    await harness.advance(1)
    expect(sent(harness)).toEqual(['crm change-1'])
  })

  it('a canary message', async () => {
    const harness = await setUp()
    const message = messageOf({ messageId: 'canary-1' })
    harness.write({ sourceId: canarySource, destinationId: 'crm', message })
    await harness.advance(1)
    expect([sent(harness), harness.count('canaryReceived{}')]).toEqual([['crm canary-1'], 1])
  })

  it('a delivery that waits in a retry topic when the filter changes', async () => {
    let isUp = false
    const harness = await DispatcherHarness.started({ answer: () => (isUp ? ok : answered(503)) })
    writeOrders(harness, { a: 5 })
    await harness.advance(1)
    harness.destinations = [destination('crm', { filter: large })]
    isUp = true
    await harness.advance(30_000)
    expect([sent(harness), harness.count('drops{filtered}')]).toEqual([['crm a', 'crm a'], 0])
  })
})

it('filters an event that names its destination', async () => {
  const harness = await DispatcherHarness.started({ destinations: [destination('crm', { filter: large })] })
  writeOrders(harness, { a: 5, b: 10 }, { destinationId: 'crm' })
  await harness.advance(1)
  expect([sent(harness), harness.count('drops{filtered}')]).toEqual([['crm b'], 1])
})

it('filters an event that waited for its destination to be configured', async () => {
  const harness = await DispatcherHarness.started({ destinations: [] })
  writeOrders(harness, { a: 5 }, { destinationId: 'crm' })
  await harness.advance(1)
  harness.destinations = [destination('crm', { filter: large })]
  await harness.advance(60_000)
  expect([sent(harness), harness.count('drops{filtered}')]).toEqual([[], 1])
})

it('applies a changed filter to events that are read later', async () => {
  const harness = await DispatcherHarness.started({ destinations: [destination('crm', { filter: large })] })
  writeOrders(harness, { a: 5 })
  await harness.advance(1)
  harness.destinations = [
    destination('crm', { filter: { ...large, where: [{ path: 'properties.total', op: 'lt', value: 10 }] } }),
  ]
  writeOrders(harness, { b: 5, c: 10 })
  await harness.advance(1)
  harness.destinations = [destination('crm')]
  writeOrders(harness, { d: 10 })
  await harness.advance(1)
  expect([sent(harness), harness.count('drops{filtered}')]).toEqual([['crm b', 'crm d'], 2])
})

it('dead-letters no event of another producer whose properties are not JSON', async () => {
  const harness = await DispatcherHarness.started({ destinations: [destination('crm', { filter: large })] })
  harness.write({ message: messageOf({ messageId: 'a', properties: '{"total":12,}' as JsonText }) })
  await harness.advance(1)
  expect([sent(harness), harness.count('drops{filtered}'), harness.count('recordFailures{}')]).toEqual([[], 1, 0])
})
