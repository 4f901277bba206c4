import { describe, expect, it } from '@jest/globals'
import { deadLetterRecord } from '../../../../src/core/delivery/dead-letter-record.ts'
import {
  type DeadLetter,
  type DeadLetterFilter,
  deadLetterOutcomes,
  LiveDeadLetters,
  matches,
  noDestination,
  parseDeadLetter,
} from '../../../../src/core/delivery/read-dead-letter.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { carriedOf, later, recordOf, start } from '../../../support/dispatcher/deliveries.ts'

const inTopic = (outgoing: ReturnType<typeof deadLetterRecord>, offset = 7): LogRecord =>
  recordOf({ ...outgoing, topic: 'hookline.dead-letter', partition: 0, offset, timestamp: later('1h') })

describe('a dead letter is parsed from its record', () => {
  const origin = { topic: 'hookline.events', partition: 3, offset: 41, timestamp: start }

  it('of a delivery', () => {
    const carried = carriedOf({
      attempt: 3,
      deferrals: 1,
      outcomes: 'http_5xx,http_4xx',
      refusedWebhooks: ['0a1b2c3d'],
      round: 2,
    })
    expect(parseDeadLetter(inTopic(deadLetterRecord(recordOf(), carried, 'retries_exhausted')))).toEqual({
      key: 'crm/hookline.events/3/41/1795248000000/2',
      at: later('1h'),
      destination: 'crm',
      reason: 'retries_exhausted',
      outcomes: ['http_5xx', 'http_4xx'],
      messageId: 'message-1',
      attempts: 3,
      deferrals: 1,
      startedAt: start,
      deadline: later('4h'),
      refusedWebhooks: ['0a1b2c3d'],
      origin,
      round: 2,
      originalLength: undefined,
      firstOffset: undefined,
    })
  })

  it('of an event that never became a delivery', () => {
    const record = deadLetterRecord(recordOf(), undefined, 'invalid_message', 'missing_event')
    expect(parseDeadLetter(inTopic(record))).toEqual({
      key: '-/hookline.events/3/41/1795248000000/0',
      at: later('1h'),
      destination: undefined,
      reason: 'invalid_message',
      outcomes: ['missing_event'],
      messageId: undefined,
      attempts: undefined,
      deferrals: undefined,
      startedAt: undefined,
      deadline: undefined,
      refusedWebhooks: [],
      origin,
      round: 0,
      originalLength: undefined,
      firstOffset: undefined,
    })
  })

  it.each<[string, LogRecord['headers'], Partial<DeadLetter>]>([
    ['nothing', {}, { reason: '', outcomes: [], origin: undefined, round: 0, attempts: undefined }],
    ['an invalid count', { attempt: '1e3', round: 'x' }, { attempts: undefined, round: 0 }],
    ['a count beyond 2^53', { attempt: '9'.repeat(16) }, { attempts: undefined }],
    ['an origin without offset', { 'origin-topic': 't', 'origin-partition': '0' }, { origin: undefined }],
    [
      'an origin without time',
      { 'origin-topic': 't', 'origin-partition': '0', 'origin-offset': '5' },
      { origin: { topic: 't', partition: 0, offset: 5, timestamp: start } },
    ],
  ])('with headers of %s', (_name, headers, expected) => {
    expect(parseDeadLetter(recordOf({ headers }))).toMatchObject(expected)
  })
})

describe('filters', () => {
  const deadLetter: DeadLetter = parseDeadLetter(
    inTopic(deadLetterRecord(recordOf(), carriedOf({ attempt: 1, outcomes: 'http_5xx,http_4xx' }), 'http_4xx')),
  )
  const undecodable = parseDeadLetter(inTopic(deadLetterRecord(recordOf(), undefined, 'undecodable')))

  it.each<[string, DeadLetterFilter, boolean, boolean]>([
    ['none', {}, true, true],
    ['destination', { destination: 'crm' }, true, false],
    ['another destination', { destination: 'cr' }, false, false],
    ['no destination', { destination: noDestination }, false, true],
    ['reason', { reason: 'http_4xx' }, true, false],
    ['another reason', { reason: 'undecodable' }, false, true],
    ['outcome that is also the reason', { outcome: 'http_4xx' }, true, false],
    ['outcome of another webhook', { outcome: 'http_5xx' }, true, false],
    ['outcome of no webhook', { outcome: 'timeout' }, false, false],
    ['message id alone', { messageId: 'message-1' }, true, false],
    ['message id and destination', { messageId: 'message-1', destination: 'shop' }, false, false],
    ['since before', { since: later('59m') }, true, true],
    ['since that instant', { since: later('1h') }, true, true],
    ['since after', { since: later('3601s') }, false, false],
    ['until that instant', { until: later('1h') }, false, false],
    ['until after', { until: later('3601s') }, true, true],
    ['all met', { destination: 'crm', reason: 'http_4xx', outcome: 'http_5xx', since: start }, true, false],
    ['all but one met', { destination: 'crm', reason: 'http_4xx', outcome: 'http_5xx', until: start }, false, false],
  ])('%s', (_name, filter, ofDelivery, ofEvent) => {
    expect([matches(deadLetter, filter), matches(undecodable, filter)]).toEqual([ofDelivery, ofEvent])
  })

  it('contain every outcome of a dead letter once', () => {
    expect(deadLetterOutcomes).toEqual(expect.arrayContaining(['http_5xx', 'tls_untrusted', 'missing_event']))
    expect(new Set(deadLetterOutcomes).size).toBe(deadLetterOutcomes.length)
  })
})

describe('the last record of a key is live, unless it is a tombstone', () => {
  /** Parses records: `key=value`, or `key` for a tombstone. `1:key` is in partition 1. */
  function recordsOf(text: string): LogRecord[] {
    return text
      .split(' ')
      .filter(Boolean)
      .map((word, offset) => {
        const [, partition = '0', key = '', value] = /^(?:(\d):)?(\w*)(?:=(\w+))?$/.exec(word) ?? []
        const bytes = value === undefined ? null : Buffer.from(value)
        return recordOf({
          partition: Number(partition),
          offset,
          key: key === '' ? null : Buffer.from(key),
          value: bytes,
        })
      })
  }

  it.each<[string, string, string[]]>([
    ['one record', 'a=1', ['1']],
    ['two keys', 'a=1 b=2', ['1', '2']],
    ['an earlier record of the key is not live', 'a=1 b=2 a=3', ['2', '3']],
    ['replayed', 'a=1 b=2 a', ['2']],
    ['replayed and dead-lettered again', 'a=1 a a=3', ['3']],
    ['replayed, and its record removed by compaction', 'a b=2', ['2']],
    ['written again and replayed', 'a=1 a=2 a', []],
    ['a tombstone in another partition has no effect', '0:a=1 1:a', ['1']],
    ['the same key in two partitions', '0:a=1 1:a=2', ['1', '2']],
    ['a record without a key is not a dead letter', '=1 a=2', ['2']],
    ['nothing', '', []],
  ])('%s', (_name, text, expected) => {
    const records = recordsOf(text)
    const standing = new LiveDeadLetters()
    for (const record of records) standing.note(record)
    expect(records.filter(record => standing.has(record)).map(({ value }) => String(value))).toEqual(expected)
    expect(standing.size).toBe(expected.length)
  })

  it('distinguishes keys that are not UTF-8', () => {
    const standing = new LiveDeadLetters()
    for (const [offset, byte] of [0xff, 0xfe].entries()) standing.note(recordOf({ offset, key: Buffer.from([byte]) }))
    expect(standing.size).toBe(2)
  })

  it('a record that was written after the read is not live', () => {
    const standing = new LiveDeadLetters()
    const [noted, newer, other] = recordsOf('a=1 a=2 b=3') as [LogRecord, LogRecord, LogRecord]
    standing.note(noted)
    expect([noted, newer, other].map(record => standing.has(record))).toEqual([true, false, false])
  })
})
