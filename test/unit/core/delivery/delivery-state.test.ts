import { describe, expect, it } from '@jest/globals'
import { deadLetterRecord, originalOf } from '../../../../src/core/delivery/dead-letter-record.ts'
import {
  type DeliveryState,
  initialState,
  parseDeliveryState,
  retryRecord,
  toHeaders,
} from '../../../../src/core/delivery/delivery-state.ts'
import {
  deadLetterReasons,
  refusedOutcomes,
} from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { carriedOf, duration, later, recordOf, start } from '../../../support/builders.ts'

const origin = { topic: 'hookline.events', partition: 3, offset: 41, timestamp: start }
const inThirdRound = carriedOf({
  attempt: 2,
  deferrals: 1,
  notBefore: later('70s'),
  reason: 'http_5xx',
  outcomes: 'http_4xx,http_5xx',
  refusedWebhooks: ['0badcafe'],
  round: 3,
})
const headers = {
  destination: 'crm',
  attempt: '2',
  deferrals: '1',
  'started-at': '1795248000000',
  deadline: '1795262400000',
  'not-before': '1795248070000',
  reason: 'http_5xx',
  outcomes: 'http_4xx,http_5xx',
  'refused-webhooks': '0badcafe',
  'origin-topic': 'hookline.events',
  'origin-partition': '3',
  'origin-offset': '41',
  'origin-timestamp': '1795248000000',
  round: '3',
  'message-id': 'message-1',
}

it('a new delivery has its whole window left and may start immediately', () => {
  expect(initialState(recordOf(), 'crm', 'message-1', start, duration('4h'))).toEqual({
    destination: 'crm',
    attempt: 0,
    deferrals: 0,
    startedAt: start,
    deadline: later('4h'),
    notBefore: start,
    reason: '',
    outcomes: '',
    refusedWebhooks: [],
    origin,
    round: 0,
    messageId: 'message-1',
  })
})

describe('headers', () => {
  it('are decimal text under documented names', () => {
    expect(toHeaders(inThirdRound)).toEqual(headers)
  })

  it('are parsed again, and unknown ones are ignored', () => {
    expect(parseDeliveryState({ ...headers, traceparent: '00-ab-cd-01' })).toEqual(inThirdRound)
  })

  it('have less than 1 KiB together, names included', () => {
    const longest = <T extends string>(values: readonly T[]): T =>
      values.reduce((best, value) => (value.length > best.length ? value : best))
    const worst: DeliveryState = {
      destination: 'd'.repeat(63),
      attempt: Number.MAX_SAFE_INTEGER,
      deferrals: Number.MAX_SAFE_INTEGER,
      startedAt: epochMs(Number.MAX_SAFE_INTEGER),
      deadline: epochMs(Number.MAX_SAFE_INTEGER),
      notBefore: epochMs(Number.MAX_SAFE_INTEGER),
      reason: longest(deadLetterReasons),
      // A delivery state has at most ten outcomes.
      outcomes: Array(10).fill(longest(refusedOutcomes)).join(','),
      refusedWebhooks: Array(10).fill('0badcafe'),
      origin: {
        topic: 't'.repeat(249),
        partition: 2 ** 31 - 1,
        offset: Number.MAX_SAFE_INTEGER,
        timestamp: epochMs(Number.MAX_SAFE_INTEGER),
      },
      round: Number.MAX_SAFE_INTEGER,
      messageId: 'm'.repeat(100),
      pausedFor: duration('48h'),
    }
    const written = toHeaders(worst)
    expect(parseDeliveryState(written)).toEqual(worst)
    expect(Buffer.byteLength(Object.entries(written).flat().join(''))).toBeLessThan(1_024)
  })

  it.each(['destination', 'attempt', 'deferrals', 'started-at', 'deadline', 'not-before', 'origin-topic'])(
    'with an empty %s are not a delivery state',
    name => {
      expect(parseDeliveryState({ ...headers, [name]: '' })).toBeUndefined()
    },
  )

  it.each(['origin-partition', 'origin-offset', 'origin-timestamp', 'round', 'message-id'])(
    'without %s are not a delivery state',
    name => {
      const { [name]: _, ...others } = headers as Record<string, string>
      expect(parseDeliveryState(others)).toBeUndefined()
    },
  )

  it('of an event without timestamp (-1 in Kafka) are complete', () => {
    const carried = parseDeliveryState({ ...headers, 'origin-timestamp': '-1' })
    expect(carried).toEqual({ ...inThirdRound, origin: { ...origin, timestamp: -1 } })
  })

  it('of an earlier version, with a fraction in not-before, lose only the fraction', () => {
    const carried = parseDeliveryState({ ...headers, 'not-before': `${headers['not-before']}.0364` })
    expect(carried).toEqual(inThirdRound)
  })

  it.each([
    ['not-before', '1795248070000.'],
    ['not-before', '1795248070000.0.1'],
    ['attempt', '1.5'],
    ['attempt', '-1'],
    ['attempt', '1e3'],
    ['attempt', ' 1'],
    ['deadline', '9007199254740993'],
    ['deadline', 'Infinity'],
    ['refused-webhooks', 'not-hex!'],
    ['refused-webhooks', '0badcafe,'.repeat(2)],
    ['outcomes', 'http_5xx,http_5xx'],
  ])('with %s %j are malformed', (name, value) => {
    expect(parseDeliveryState({ ...headers, [name]: value })).toBeUndefined()
  })
})

describe('a retry record', () => {
  it('has the key and bytes of the event, for any partition', () => {
    const record = recordOf()
    expect(retryRecord(record, inThirdRound)).toEqual({ key: record.key, value: record.value, headers })
  })

  it('replaces the headers of Hookline and keeps all others', () => {
    const record = recordOf({ headers: { ...headers, attempt: '1', 'null-value': '1', traceparent: '00-ab-cd-01' } })
    expect(retryRecord(record, inThirdRound).headers).toEqual({ ...headers, traceparent: '00-ab-cd-01' })
  })
})

describe('a dead letter', () => {
  it('of a delivery: keyed by destination, origin and round, whichever topic the record was on', () => {
    const record = recordOf({ topic: 'hookline.retry.1h', partition: 3, offset: 7, headers })
    expect(deadLetterRecord(record, inThirdRound, 'retries_exhausted')).toEqual({
      key: Buffer.from('crm/hookline.events/3/41/1795248000000/3'),
      value: record.value,
      headers: { ...headers, reason: 'retries_exhausted', 'origin-key': 'u1' },
    })
  })

  const ofRecord = {
    outcomes: '',
    'origin-topic': 'hookline.events',
    'origin-partition': '3',
    'origin-offset': '41',
    'origin-timestamp': '1795248000000',
    round: '0',
    'origin-key': 'u1',
  }
  it.each([
    ['undecodable', undefined, undefined, '-', {}],
    ['invalid_message', undefined, 'too_deep', '-', { outcomes: 'too_deep' }],
    ['unknown_source', { messageId: 'm1' }, undefined, '-', { 'message-id': 'm1' }],
    ['unknown_destination', { destination: 'gone' }, undefined, 'gone', { destination: 'gone' }],
  ] as const)('of a record that never became a delivery: %s', (reason, known, code, first, more) => {
    // Another producer can write these headers to the events topic. Hookline ignores them there.
    const record = recordOf({ headers: { destination: 'forged', attempt: '9', 'origin-key': 'forged' } })
    expect(deadLetterRecord(record, known, reason, code)).toEqual({
      key: Buffer.from(`${first}/hookline.events/3/41/1795248000000/0`),
      value: record.value,
      headers: { ...ofRecord, reason, ...more },
    })
  })

  it('of an event without value: empty and marked, because null would be a tombstone', () => {
    const { value, headers: written } = deadLetterRecord(recordOf({ value: null }), undefined, 'undecodable')
    expect(value).toEqual(Buffer.alloc(0))
    expect(written['null-value']).toBe('1')
  })

  it('of an event with an empty value is not marked', () => {
    const record = recordOf({ value: Buffer.alloc(0), headers: { 'null-value': '1' } })
    expect(deadLetterRecord(record, undefined, 'undecodable').headers).not.toHaveProperty('null-value')
  })

  it.each<[string, Partial<LogRecord>]>([
    ['text', {}],
    ['bytes that are not text', { key: Buffer.from([0, 127, 128, 255]), value: Buffer.from([255, 0]) }],
    ['without key', { key: null }],
    ['with an empty key and an empty value', { key: Buffer.alloc(0), value: Buffer.alloc(0) }],
    ['without value', { value: null }],
    ['with foreign headers', { headers: { traceparent: '00-ab-cd-01' } }],
  ])('restores the key, value and headers of its record: %s', (_name, given) => {
    const { key, value, headers: others } = recordOf(given)
    const ours = { attempt: '9', 'null-value': '1', 'origin-key': 'forged' }
    const written = deadLetterRecord(recordOf({ ...given, headers: { ...ours, ...others } }), carriedOf(), 'http_4xx')
    expect(originalOf(recordOf({ ...written, partition: 0 }))).toEqual({ key, value, headers: others })
  })
})
