import { describe, expect, it } from '@jest/globals'
import { deleteMessagesOf } from '../../../../src/core/deletion/deletion-request.ts'
import { deadLetterRecord } from '../../../../src/core/delivery/dead-letter-record.ts'
import { parseDeliveryState, retryRecord } from '../../../../src/core/delivery/delivery-state.ts'
import { recoveredState } from '../../../../src/core/delivery/delivery-state-of-malformed-record.ts'
import {
  type DeadLetterReason,
  deadLetterReasons,
} from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { parseDeadLetter } from '../../../../src/core/delivery/parse-dead-letter.ts'
import {
  firstOrigin,
  type ReplayTarget,
  replayedTombstone,
  replayTargetOf,
} from '../../../../src/core/delivery/replay-decision.ts'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import type { Event, EventOrigin } from '../../../../src/core/message/event.ts'
import type { LogRecord, OutgoingRecord, RecordHeaders } from '../../../../src/core/ports.ts'
import { tiersOf, topicNames } from '../../../../src/core/topics.ts'
import {
  carriedOf,
  destinationOf,
  duration,
  durations,
  eventOf,
  later,
  recordOf,
  sourceOf,
  start,
} from '../../../support/builders.ts'

const topics = topicNames('hookline')
const destinations = [
  destinationOf(),
  destinationOf({ id: 'off', enabled: false }),
  destinationOf({ id: 'paused', paused: true }),
]
const routing = createRouting({ sources: [sourceOf('web')], destinations })
const policyOf = (schedule: string) => ({ window: duration('4h'), tiers: tiersOf(durations(schedule)) })
/** Time of the replay: 44 hours after the delivery was dead-lettered. */
const now = later('48h')

const inTopic = (outgoing: OutgoingRecord): LogRecord =>
  recordOf({ ...outgoing, topic: topics.deadLetter, partition: 7, offset: 1_000, timestamp: later('4h') })

function targetOf(
  record: LogRecord,
  { schedule = '10s', event = eventOf() }: { schedule?: string; event?: Event } = {},
): ReplayTarget {
  return replayTargetOf(record, parseDeadLetter(record), { topics, routing, policy: policyOf(schedule) }, now, event)
}

const spent = carriedOf({
  attempt: 10,
  deferrals: 4,
  notBefore: later('3h'),
  outcomes: 'http_4xx,http_5xx',
  refusedWebhooks: ['0a1b2c3d'],
  round: 2,
})
const deliveryGivenUp = (reason: DeadLetterReason, id = 'crm', record = recordOf()): LogRecord =>
  inTopic(deadLetterRecord(record, { ...spent, destination: id }, reason))

describe('a delete message', () => {
  const [event] = deleteMessagesOf(
    { userIds: ['ada'], sources: undefined, suppress: false },
    { id: 'd-1', createdAt: start, users: 1, isSuppressed: false, sources: [{ id: 'web', destinations: ['crm'] }] },
  )
  // A deletion suppresses its users for 1,272 h. A pause of 48 h and the retry window of 4 h leave
  // 1,220 h.
  it.each<[string, string, string]>([
    ['is replayed while its suppression exists until the delivery ends', '1219h', 'delivery'],
    ['is refused when its suppression could expire before that', '1221h', 'deletion_expired'],
  ])('%s', (_, age, expected) => {
    const record = deliveryGivenUp('http_4xx')
    const context = { topics, routing, policy: policyOf('10s'), evenDisconnected: true }
    const target = replayTargetOf(record, parseDeadLetter(record), context, later(age), event)
    expect(target.kind === 'refused' ? target.reason : target.kind).toBe(expected)
  })
})

describe('a delivery goes to the first retry tier', () => {
  it.each(['attempt', 'deferrals', 'started-at', 'deadline', 'not-before', 'round', 'refused-webhooks'])(
    'also when the header %s of its retry record was malformed',
    name => {
      const { headers, ...copy } = retryRecord(recordOf(), { ...spent, destination: 'crm' })
      const malformed = recordOf({
        ...{ ...copy, topic: topics.retry(duration('10s')), partition: 3 },
        headers: { ...headers, [name]: '1.x' },
      })
      const deadLetter = inTopic(deadLetterRecord(malformed, recoveredState(malformed), 'undecodable'))
      expect(targetOf(deadLetter)).toMatchObject({ kind: 'delivery', copy: { headers: { destination: 'crm' } } })
    },
  )

  it('keeps only its message, its destination and its origin', () => {
    const event = recordOf({ key: Buffer.from([255, 0]), headers: { traceparent: '00-ab-cd-01' } })
    const target = targetOf(deliveryGivenUp('retries_exhausted', 'crm', event))
    if (target.kind !== 'delivery') throw new TypeError(target.kind)
    const { key, value, headers } = target.copy
    expect({ topic: target.topic, key, value }).toEqual({
      topic: 'hookline.retry.10s',
      key: event.key,
      value: event.value,
    })
    expect(parseDeliveryState(headers)).toEqual({
      destination: 'crm',
      messageId: 'message-1',
      origin: spent.origin,
      attempt: 0,
      deferrals: 0,
      startedAt: now,
      deadline: later('52h'),
      notBefore: now,
      reason: '',
      outcomes: '',
      refusedWebhooks: [],
      round: 3,
    })
    expect(headers['traceparent']).toBe('00-ab-cd-01')
    expect(headers).not.toHaveProperty('origin-key')
  })

  it('restarts the retry window of its destination', () => {
    const policy = { window: duration('1h') }
    const routing = createRouting({ sources: [sourceOf('web')], destinations: [destinationOf({ policy })] })
    const record = deliveryGivenUp('retries_exhausted', 'crm', recordOf({ headers: { 'paused-for': '5' } }))
    const context = { topics, routing, policy: policyOf('10s') }
    const target = replayTargetOf(record, parseDeadLetter(record), context, now, eventOf())
    if (target.kind !== 'delivery') throw new TypeError(target.kind)
    expect(parseDeliveryState(target.copy.headers)).toMatchObject({ startedAt: now, deadline: later('1h', now) })
    expect(target.copy.headers).not.toHaveProperty('paused-for')
  })

  it.each([
    ['', '10s'],
    ['1m 1h', '10s'],
    ['1s 2s', '1s'],
  ])('the shortest tier of schedule %j: %s', (schedule, tier) => {
    expect(targetOf(deliveryGivenUp('http_4xx'), { schedule })).toMatchObject({ topic: `hookline.retry.${tier}` })
  })

  it.each(deadLetterReasons)('for any reason: %s', reason => {
    // On the events topic, the record would reach all destinations, so it goes to a retry topic
    // even if undecodable.
    expect(targetOf(deliveryGivenUp(reason)).kind).toBe('delivery')
  })
})

describe('an event that never became a delivery is replayed to its original topic', () => {
  const event = recordOf({ key: Buffer.from([255, 0]), headers: { traceparent: '00-ab-cd-01', destination: 'forged' } })
  const asItWas = {
    key: event.key,
    value: event.value,
    partition: event.partition,
    headers: { traceparent: '00-ab-cd-01', 'replay-of': 'hookline.events/3/41/1795248000000' },
  }

  it.each([
    ['undecodable', undefined, undefined],
    ['invalid_message', undefined, 'missing_event'],
    ['record_too_large', undefined, undefined],
    ['unknown_source', { messageId: 'm1' }, undefined],
    ['unknown_source', { messageId: 'm1', destination: 'crm' }, undefined],
    ['unknown_destination', { messageId: 'm1', destination: 'crm' }, undefined],
  ] as const)('unchanged: %s %j', (reason, known, code) => {
    expect(targetOf(inTopic(deadLetterRecord(event, known, reason, code)))).toEqual({
      kind: 'event',
      topic: 'hookline.events',
      copy: asItWas,
    })
  })

  it('a null value stays null, and a missing key stays missing', () => {
    const nothing = recordOf({ key: null, value: null })
    expect(targetOf(inTopic(deadLetterRecord(nothing, undefined, 'undecodable')))).toMatchObject({
      copy: { key: null, value: null, headers: { 'replay-of': 'hookline.events/3/41/1795248000000' } },
    })
  })

  it('with its original position, when it is replayed again', () => {
    const replayOf = 'hookline.events/3/41/1795248000000'
    const again = recordOf({ offset: 99, timestamp: later('48h'), headers: { 'replay-of': replayOf } })
    const target = targetOf(inTopic(deadLetterRecord(again, undefined, 'undecodable')))
    expect(target).toMatchObject({ kind: 'event', copy: { headers: { 'replay-of': replayOf } } })
    if ('copy' in target)
      expect(firstOrigin(recordOf({ ...target.copy, partition: 3, offset: 150 }))).toEqual(spent.origin)
  })
})

describe('is not replayed', () => {
  const never = (known: { destination: string }, reason: DeadLetterReason): LogRecord =>
    inTopic(deadLetterRecord(recordOf(), { messageId: 'm1', ...known }, reason))
  const foreign = (headers: RecordHeaders): LogRecord => recordOf({ topic: topics.deadLetter, headers })
  const parkedByOthers = recordOf({ topic: topics.retry(duration('10s')) })

  it.each<[string, LogRecord, string]>([
    ['a delivery whose destination is gone', deliveryGivenUp('unknown_destination', 'gone'), 'unknown_destination'],
    ['a delivery with another reason', deliveryGivenUp('http_4xx', 'gone'), 'unknown_destination'],
    [
      'an event that names an unknown destination',
      never({ destination: 'gone' }, 'unknown_destination'),
      'unknown_destination',
    ],
    ['a delivery that would be dropped', deliveryGivenUp('http_4xx', 'off'), 'disabled'],
    ['an event that would be dropped', never({ destination: 'off' }, 'unknown_source'), 'disabled'],
    ['a foreign record', foreign({}), 'unreadable'],
    ['a foreign record that names a destination', foreign({ destination: 'crm', 'message-id': 'm1' }), 'unreadable'],
    [
      'an unknown reason',
      foreign({ 'origin-topic': topics.events, 'origin-partition': '0', 'origin-offset': '5', reason: 'banana' }),
      'unreadable',
    ],
    [
      'an invalid partition',
      foreign({ 'origin-topic': topics.events, 'origin-partition': '-1', 'origin-offset': '5', reason: 'undecodable' }),
      'unreadable',
    ],
    [
      'a foreign record of a retry topic',
      inTopic(deadLetterRecord(parkedByOthers, undefined, 'undecodable')),
      'unreadable',
    ],
    [
      'an origin in a foreign topic',
      inTopic(deadLetterRecord(recordOf({ topic: 'payments' }), undefined, 'undecodable')),
      'unreadable',
    ],
  ])('%s', (_name, record, reason) => {
    expect(targetOf(record)).toEqual({ kind: 'refused', reason })
  })

  it('a pause does not prevent the replay, because it only delays the delivery', () => {
    expect(targetOf(deliveryGivenUp('retry_window_over', 'paused')).kind).toBe('delivery')
  })
})

describe("an audience's event", () => {
  const made = (origin: EventOrigin | undefined): Event => ({ ...eventOf(), destinationId: 'crm', origin })
  const change = made({ kind: 'audience', id: 'First time shopper', version: 3 })

  it('is not sent again, because the audience has the current value', () => {
    const input = { kind: 'resend', audience: 'First time shopper', userId: 'u1', destination: 'crm' }
    expect(targetOf(deliveryGivenUp('http_4xx'), { event: change })).toEqual({ kind: 'resend', input })
  })

  it('is not replayed when its destination would not get it', () => {
    expect(targetOf(deliveryGivenUp('http_4xx', 'off'), { event: change })).toEqual({
      kind: 'refused',
      reason: 'disabled',
    })
  })

  it.each<[string, EventOrigin | undefined]>([
    ['a delete', { kind: 'deletion', id: 'd-1', version: undefined }],
    ['an event of another sender', undefined],
  ])('is not %s', (_, origin) => {
    expect(targetOf(deliveryGivenUp('http_4xx'), { event: made(origin) }).kind).toBe('delivery')
  })
})

it('is marked as replayed by a tombstone under its own key, in its own partition', () => {
  const record = deliveryGivenUp('http_4xx')
  expect(replayedTombstone(record)).toEqual({ key: record.key, value: null, headers: {}, partition: 7 })
})

describe('the original position of an event', () => {
  it('is the position of its record', () => {
    const record = recordOf()
    expect(firstOrigin(record)).toBe(record)
  })

  it('is the position of the first record, for a replayed copy', () => {
    const headers = { 'replay-of': 'hookline.events/11/70000000000/-1' }
    const stood = { topic: 'hookline.events', partition: 11, offset: 70_000_000_000, timestamp: -1 }
    expect(firstOrigin(recordOf({ headers }))).toEqual(stood)
  })

  it.each(['', 'hookline.events/3/41', 'a b/3/41/0', 't/3/41/0/', `${'t'.repeat(250)}/3/41/0`, 't/3/41/1e3'])(
    'is the position of its record when the header is invalid: %j',
    header => {
      const record = recordOf({ headers: { 'replay-of': header } })
      expect(firstOrigin(record)).toBe(record)
    },
  )
})
