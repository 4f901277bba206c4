import { describe, expect, it } from '@jest/globals'
import { parseDeliveryState } from '../../../../src/core/delivery/delivery-state.ts'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { isCopyOfRead, resendOf, routingOf } from '../../../../src/core/jobs/resend-decision.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import { messageIdAt } from '../../../../src/core/message/message-ids-and-required-identifiers.ts'
import { canarySource, operationsSource } from '../../../../src/core/message/own-event-builder-and-source-ids.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import {
  defaultPolicy,
  destinationOf,
  duration,
  eventOf,
  messageOf,
  recordOf,
  sourceOf,
  start,
} from '../../../support/builders.ts'

const crm = destinationOf({ filter: { types: ['track', 'identify'] }, policy: { window: duration('1h') } })
const all = createRouting({
  sources: [sourceOf('web'), sourceOf('server')],
  destinations: [crm, destinationOf({ id: 'shop', sources: ['web', 'server'] })],
})
const now = epochMs(start + 86_400_000)
const context = {
  ...{ topics: topicNames('hookline'), policy: defaultPolicy, destination: crm, routing: routingOf(crm, all), now },
  isStopped: ({ message }: Event) => message.userId === 'gone',
}
const decide = (event: Event, of: Parameters<typeof resendOf>[2] = {}, record = recordOf()) =>
  resendOf(record, event, of, context)

it('a copy is a new delivery of this destination in the shortest retry topic, with its own retry window', () => {
  const resent = decide(eventOf(), {}, recordOf({ headers: { traceparent: 'x' } }))
  if (resent.kind !== 'copy') throw new Error('skipped')
  const { topic, copy } = resent
  expect(topic).toBe('hookline.retry.10s')
  expect(copy).toMatchObject({ key: recordOf().key, value: recordOf().value, headers: { traceparent: 'x' } })
  expect(parseDeliveryState(copy.headers)).toMatchObject({
    ...{ destination: 'crm', messageId: 'message-1', attempt: 0, round: 1, startedAt: now, deadline: now + 3_600_000 },
    origin: { topic: 'hookline.events', partition: 3, offset: 41, timestamp: start },
  })
})

it('a copy of an event without a message id has the id that the dispatcher gave it, also for a long topic name', () => {
  const record = recordOf({ topic: `${'x'.repeat(120)}.events` })
  const event = eventOf({ canonical: false, message: messageOf({ messageId: '' }) })
  const resent = decide(event, {}, record)
  if (resent.kind !== 'copy') throw new Error('skipped')
  expect(parseDeliveryState(resent.copy.headers)?.messageId).toBe(messageIdAt(record))
})

describe('an event that is not sent', () => {
  const delivered = eventOf()
  const about = (given: Parameters<typeof messageOf>[0]): Event => eventOf({ message: messageOf(given) })
  it.each<[string, Event, Parameters<typeof resendOf>[2]]>([
    ['own_event', eventOf({ sourceId: canarySource, destinationId: 'crm' }), {}],
    ['own_event', eventOf({ sourceId: operationsSource, destinationId: 'crm' }), {}],
    ['own_event', about({ type: 'delete' }), {}],
    ['own_event', eventOf({ origin: { kind: 'audience', id: 'a', version: 1 } }), {}],
    ['other_type', delivered, { types: ['identify'] }],
    ['other_user', delivered, { userIds: ['u2'] }],
    ['other_user', about({ userId: undefined, anonymousId: 'u2' }), { userIds: ['u2'] }],
    ['not_routed', eventOf({ sourceId: 'server' }), {}],
    ['not_routed', eventOf({ sourceId: 'unknown' }), {}],
    ['not_routed', eventOf({ destinationId: 'shop' }), {}],
    ['not_routed', about({ type: 'page' }), {}],
    ['not_routed', about({ integrations: '{"All":false}' as JsonText }), {}],
    ['stopped_user', about({ userId: 'gone' }), {}],
    ['invalid_message', eventOf({ canonical: false, message: messageOf({ event: undefined }) }), {}],
  ])('%s: %#', (reason, event, of) => {
    expect(decide(event, of)).toEqual({ kind: 'skip', reason })
  })
})

describe('a copy that a replay wrote, if the original', () => {
  it.each([
    ['is the first record of the job', 'hookline.events/3/30/0', true],
    ['is the record before the copy', 'hookline.events/3/40/0', true],
    ['is before the records of the job', 'hookline.events/3/29/0', false],
    ['would be in another partition', 'hookline.events/2/35/0', false],
    ['would be in another topic', 'other.events/3/35/0', false],
    ['would be the copy', 'hookline.events/3/41/0', false],
    ['would be a later record', 'hookline.events/3/42/0', false],
    ['is not in a valid header', '3/35', false],
  ])('%s', (_, replayOf, expected) => {
    const record = recordOf({ partition: 3, offset: 41, headers: { 'replay-of': replayOf } })
    expect(isCopyOfRead(record, [0, 0, 0, 30])).toBe(expected)
  })

  it.each<[string, Readonly<Record<string, string>>, readonly number[]]>([
    ['any other record', {}, [0, 0, 0, 0]],
    ['a record of a partition that the job does not know', { 'replay-of': 'hookline.events/3/40/0' }, [0]],
  ])('%s is not such a copy', (_, headers, readFrom) => {
    expect(isCopyOfRead(recordOf({ partition: 3, offset: 41, headers }), readFrom)).toBe(false)
  })
})

it('selects by type and user', () => {
  expect(decide(eventOf(), { types: ['track'], userIds: ['u1', 'u2'] }).kind).toBe('copy')
})

it('an event without an id gets the same one as in the dispatcher, also from the copy of a replay', () => {
  const foreign = eventOf({ canonical: false, message: { ...messageOf(), messageId: undefined as never } })
  const idOf = (headers: Readonly<Record<string, string>>) => {
    const resent = decide(foreign, {}, recordOf({ headers }))
    return resent.kind === 'copy' && parseDeliveryState(resent.copy.headers)
  }
  expect(idOf({})).toMatchObject({ messageId: 'hookline.events/3/41', round: 1 })
  const replayed = idOf({ 'replay-of': `hookline.events/1/7/${start - 5}` })
  expect(replayed).toMatchObject({
    messageId: 'hookline.events/1/7',
    round: 1,
    origin: { offset: 41, timestamp: start - 5 },
  })
})
