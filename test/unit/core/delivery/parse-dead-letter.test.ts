import { describe, expect, it } from '@jest/globals'
import { deadLetterRecord } from '../../../../src/core/delivery/dead-letter-record.ts'
import { type DeadLetter, parseDeadLetter } from '../../../../src/core/delivery/parse-dead-letter.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { carriedOf, later, recordOf, start } from '../../../support/builders.ts'

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
