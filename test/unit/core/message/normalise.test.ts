import { describe, expect, it } from '@jest/globals'
import type { Message } from '../../../../src/core/message/message.ts'
import { normalise, type Reception } from '../../../../src/core/message/normalise.ts'
import { parseMessageText } from '../../../../src/core/message/parse-message-json.ts'
import { toIsoTimestamp } from '../../../../src/core/message/timestamp.ts'
import { epochMs } from '../../../../src/core/time.ts'

const reception: Reception = {
  receivedAt: epochMs(Date.parse('2026-11-21T12:00:00.000Z')),
  sentAt: undefined,
  newId: () => 'new-id',
}
/** A valid track call, with `fields` added. */
const track = (fields: object = {}) => ({ type: 'track', event: 'Opened', userId: 'u1', ...fields })
const take = (input: unknown, around: Partial<Reception> = {}) => normalise(input, { ...reception, ...around })

function taken(input: unknown, around: Partial<Reception> = {}): Message {
  const outcome = take(input, around)
  if (outcome.kind !== 'message') throw new Error(`rejected: ${outcome.message}`)
  return outcome.message
}
const timeOf = (input: unknown, around: Partial<Reception> = {}): string =>
  toIsoTimestamp(taken(input, around).timestamp)

it('puts every field in its place, for any message', () => {
  const whole: Message = {
    type: 'track',
    messageId: 'm1',
    userId: 'u1',
    anonymousId: 'a1',
    groupId: 'g1',
    previousId: 'p1',
    event: 'Opened',
    name: 'n1',
    category: 'c1',
    timestamp: reception.receivedAt,
    properties: '{"a":1}' as Message['properties'],
    traits: '{"b":2}' as Message['traits'],
    context: '{"c":3}' as Message['context'],
    integrations: '{"All":true}' as Message['integrations'],
  }
  const input = {
    ...whole,
    properties: { a: 1 },
    traits: { b: 2 },
    context: { c: 3 },
    integrations: { All: true },
  }
  expect(take(input)).toEqual({ kind: 'message', message: whole, droppedKeys: 0 })
  expect(Object.keys(taken({ type: 'page', userId: 'u1' }))).toEqual(Object.keys(whole))
})

describe('the required fields of a call', () => {
  const texts = {
    missing_id: "You must pass either an 'anonymousId' or 'userId'.",
    missing_event: "You must pass 'event'.",
    missing_group_id: "You must pass a 'groupId'.",
    missing_user_id: "You must pass a 'userId'.",
    missing_previous_id: "You must pass a 'previousId'.",
    unknown_type: "'type' must be one of identify, track, page, screen, group, alias.",
  }
  it.each([
    ['identify without an id', { type: 'identify' }, 'missing_id'],
    ['track without an id', { type: 'track', event: 'x' }, 'missing_id'],
    ['track without any field: event is checked first', { type: 'track' }, 'missing_event'],
    ['page without an id', { type: 'page', name: 'x' }, 'missing_id'],
    ['screen without an id', { type: 'screen' }, 'missing_id'],
    ['group without an id', { type: 'group', groupId: 'g' }, 'missing_id'],
    ['group without any field: groupId is checked first', { type: 'group' }, 'missing_group_id'],
    ['alias without any field: userId is checked first', { type: 'alias' }, 'missing_user_id'],
    ['alias to an anonymous id', { type: 'alias', anonymousId: 'a', previousId: 'p' }, 'missing_user_id'],
    ['alias without previousId', { type: 'alias', userId: 'u' }, 'missing_previous_id'],
    ['an empty id', { type: 'page', userId: '', anonymousId: null }, 'missing_id'],
    ['an id of another type', { type: 'page', userId: true, anonymousId: ['a'] }, 'missing_id'],
    ['an empty event', track({ event: '' }), 'missing_event'],
    ['an event that is not text', track({ event: 5 }), 'missing_event'],
    ['no type', { userId: 'u' }, 'unknown_type'],
    ['an unknown type', { type: 'Track', userId: 'u' }, 'unknown_type'],
    ['delete, which only deletion requests make', { type: 'delete', userId: 'u' }, 'unknown_type'],
    ['a type in __proto__', JSON.parse('{"__proto__":{"type":"page"},"userId":"u"}'), 'unknown_type'],
  ] as const)('%s', (_, input, code) => {
    expect(take(input)).toEqual({ kind: 'rejected', code, message: texts[code] })
  })

  it.each([null, undefined, 'text', 5, true, [], [{ type: 'page', userId: 'u' }]])('not an object: %j', input => {
    expect(take(input)).toMatchObject({ kind: 'rejected', code: 'not_an_object' })
  })

  it.each([
    { type: 'identify', anonymousId: 'a' },
    { type: 'track', event: 'x', anonymousId: 'a' },
    { type: 'page', anonymousId: 'a' },
    { type: 'screen', userId: 'u' },
    { type: 'group', groupId: 'g', anonymousId: 'a' },
    { type: 'alias', userId: 'u', previousId: 'p' },
  ])('accepts the minimum: %j', input => {
    expect(taken(input)).toMatchObject(input)
  })
})

describe('ids', () => {
  it.each([
    ['a number as written', '{"type":"page","userId":12345678901234567890}', { userId: '12345678901234567890' }],
    [
      'every kind of id as a number',
      '{"type":"page","userId":1,"anonymousId":2,"groupId":3,"previousId":4,"messageId":5}',
      { userId: '1', anonymousId: '2', groupId: '3', previousId: '4', messageId: '5' },
    ],
    ['a lone surrogate', '{"type":"page","userId":"u\\ud83d"}', { userId: 'u\ufffd' }],
    [
      'empty ids are absent',
      '{"type":"page","userId":"u","anonymousId":"","groupId":null,"previousId":{}}',
      { anonymousId: undefined, groupId: undefined, previousId: undefined },
    ],
  ])('%s', (_, text, expected) => {
    const parsed = parseMessageText(text)
    if (parsed.kind === 'rejected') throw new Error(parsed.message)
    expect(taken(parsed.value)).toMatchObject(expected)
  })

  it('a number that was not parsed from text has its JSON digits', () => {
    expect(taken({ type: 'page', userId: 42 }).userId).toBe('42')
    expect(taken({ type: 'page', userId: -0 }).userId).toBe('0')
  })

  it('rejects a number that is not finite', () => {
    expect(take({ type: 'page', userId: Number.POSITIVE_INFINITY })).toMatchObject({ code: 'non_finite_number' })
  })
})

describe('timestamp', () => {
  const timestamp = '2026-11-21T13:59:00.000Z'
  const fast = '2026-11-21T14:00:00.000Z'
  it.each([
    ['no timestamp: the time of receipt', { sentAt: fast }, undefined, '2026-11-21T12:00:00.000Z'],
    ['null: the time of receipt', { timestamp: null }, undefined, '2026-11-21T12:00:00.000Z'],
    ['a valid timestamp', { timestamp }, undefined, timestamp],
    ['only originalTimestamp (RudderStack)', { originalTimestamp: timestamp }, undefined, timestamp],
    ['timestamp rather than originalTimestamp', { timestamp, originalTimestamp: '2001-01-01' }, undefined, timestamp],
    ['the future', { timestamp: '2999-01-01' }, undefined, '2999-01-01T00:00:00.000Z'],
    ["corrected by the message's sentAt", { timestamp, sentAt: fast }, timestamp, '2026-11-21T11:59:00.000Z'],
    ["corrected by the batch's sentAt", { timestamp }, fast, '2026-11-21T11:59:00.000Z'],
    ['originalTimestamp is corrected too', { originalTimestamp: timestamp }, fast, '2026-11-21T11:59:00.000Z'],
    [
      'an invalid sentAt: the sentAt of the batch counts',
      { timestamp, sentAt: 'now' },
      fast,
      '2026-11-21T11:59:00.000Z',
    ],
    ['no valid sentAt', { timestamp, sentAt: 'now' }, 'now', timestamp],
    ['a historical time is not corrected', { timestamp: '2012-12-02T00:30:08.276Z' }, fast, '2012-12-02T00:30:08.276Z'],
    ['as a number', { timestamp: 1_447_754_426 }, undefined, '2015-11-17T10:00:26.000Z'],
  ])('%s', (_, fields, sentAt, expected) => {
    expect(timeOf(track(fields), { sentAt })).toBe(expected)
  })

  it.each([
    ['timestamp', { timestamp: '2012-02-30', originalTimestamp: timestamp }],
    ['timestamp', { timestamp: '1447754426' }],
    ['timestamp', { timestamp: '' }],
    ['originalTimestamp', { originalTimestamp: {} }],
  ])('an invalid time is rejected, naming %s', (field, fields) => {
    expect(take(track(fields))).toEqual({
      kind: 'rejected',
      code: 'invalid_timestamp',
      message: expect.stringContaining(`'${field}' is not a valid time. Send `),
    })
  })
})
