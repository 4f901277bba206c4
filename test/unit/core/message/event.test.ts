import { describe, expect, it } from '@jest/globals'
import { type Event, type EventOrigin, headOf, keyOf, normaliseEvent } from '../../../../src/core/message/event.ts'
import type { Message } from '../../../../src/core/message/message.ts'
import { epochMs } from '../../../../src/core/time.ts'

const blank = { type: 'page', messageId: 'm1', userId: undefined, anonymousId: undefined } as Message

describe('keyOf', () => {
  it.each([
    ['the user', { userId: 'u', anonymousId: 'a' }, 'u'],
    ['the anonymous id without a user', { anonymousId: 'a' }, 'a'],
    ['none without both', {}, undefined],
  ])('%s', (_, ids, key) => {
    expect(keyOf({ ...blank, ...ids })).toBe(key)
  })
})

describe('headOf', () => {
  const said = { properties: '{"p":1}', context: '{"c":1}', traits: '{"in":true}' } as Partial<Message>
  const known = { sourceId: 's', receivedAt: epochMs(1_000), origin: undefined }
  const eventOf = (origin: EventOrigin | undefined): Event => ({
    ...{ ...known, origin, destinationId: 'd', canonical: true },
    message: { ...blank, ...said, userId: 'u' },
  })

  it('of an SDK message: no message content', () => {
    const message = { type: 'page', userId: 'u', traits: undefined }
    expect(headOf(eventOf(undefined))).toStrictEqual({ ...known, message })
  })

  it('of an audience change: also the traits, for the report of its result', () => {
    const origin: EventOrigin = { kind: 'audience', id: 'a', version: 2 }
    const message = { type: 'page', userId: 'u', traits: '{"in":true}' }
    expect(headOf(eventOf(origin))).toStrictEqual({ ...known, origin, message })
  })
})

describe('normaliseEvent', () => {
  const receivedAt = epochMs(Date.parse('2026-11-21T12:00:00.000Z'))
  /**
   * An event of a foreign producer. Any field can be absent, and the JSON parts can be any text.
   */
  const foreign = (message: object, fields: object = {}): Event => ({
    sourceId: 's1',
    destinationId: undefined,
    receivedAt,
    canonical: false,
    origin: undefined,
    message: { type: 'page', userId: 'u1', ...message } as unknown as Message,
    ...fields,
  })
  const idOfRecord = (): string => 'events-3-1234'
  const take = (event: Event) => normaliseEvent(event, idOfRecord)

  it('makes the event valid, as the writers of Hookline do', () => {
    const event = foreign(
      {
        type: 'track',
        event: 'Opened',
        messageId: 'm1',
        timestamp: 1_447_754_426_987,
        properties: ' { "b" : 1.0, "2" : [ ], "__proto__" : 1 } ',
        context: '{"ip":"x","integrations":{"All":false}}',
        integrations: '{"Webhooks":true}',
      },
      { destinationId: 'd1', origin: { kind: 'audience', id: 'vips', version: 3 } },
    )
    expect(take(event)).toEqual({
      kind: 'event',
      droppedKeys: 1,
      event: {
        sourceId: 's1',
        destinationId: 'd1',
        receivedAt,
        canonical: true,
        origin: { kind: 'audience', id: 'vips', version: 3 },
        message: {
          type: 'track',
          messageId: 'm1',
          userId: 'u1',
          event: 'Opened',
          timestamp: 1_447_754_426_987,
          properties: '{"2":[],"b":1}',
          context: '{"ip":"x"}',
          integrations: '{"All":false,"Webhooks":true}',
        },
      },
    })
  })

  it('does not change its input', () => {
    const event = foreign({ properties: '{ }', timestamp: 1 })
    const before = structuredClone(event)
    take(event)
    expect(event).toEqual(before)
  })

  it.each([
    ['small, which from an SDK would mean seconds', 1_500, 1_500],
    ['negative', -1, -1],
    ['zero', 0, 0],
    ['absent: when it was received', undefined, receivedAt],
    ['null: when it was received', null, receivedAt],
  ])('the timestamp is milliseconds: %s', (_, timestamp, expected) => {
    expect(take(foreign({ timestamp }))).toMatchObject({ event: { message: { timestamp: expected } } })
  })

  it.each([
    ['timestamp', { timestamp: 253_402_300_800_000 }, {}],
    ['timestamp', { timestamp: -62_135_596_800_001 }, {}],
    ['timestamp', { timestamp: 1.5 }, {}],
    ['timestamp', { timestamp: Number.NaN }, {}],
    ['receivedAt', { timestamp: 0 }, { receivedAt: 1e17 }],
    ['receivedAt', {}, { receivedAt: null }],
  ])('a time out of range is rejected, naming %s', (field, message, fields) => {
    expect(take(foreign(message, fields))).toEqual({
      kind: 'rejected',
      code: 'invalid_timestamp',
      message: expect.stringContaining(`'${field}' is out of range: send `),
    })
  })

  it.each(['properties', 'traits', 'context', 'integrations'])('%s that is not JSON is rejected by name', part => {
    for (const text of ['', '{', "{'a':1}"]) {
      const message = expect.stringMatching(new RegExp(`^${part} is not JSON: `))
      expect(take(foreign({ [part]: text }))).toEqual({ kind: 'rejected', code: 'invalid_json', message })
    }
  })

  it.each([
    ['null', undefined],
    ['5', undefined],
    ['[1]', undefined],
    ['[]', '{}'],
    ['{"userId":1.0}', '{"userId":1}'],
  ])('properties %s become %s', (text, properties) => {
    expect(take(foreign({ properties: text }))).toMatchObject({ event: { message: { properties } } })
  })

  it.each([
    ['none', undefined, 'events-3-1234'],
    ['an empty one', '', 'events-3-1234'],
    ['its own', 'm1', 'm1'],
  ])('message id: %s', (_, messageId, expected) => {
    expect(take(foreign({ messageId }))).toMatchObject({ event: { message: { messageId: expected } } })
  })

  it.each([
    ['a delete', { type: 'delete' }, 'unknown_type'],
    ['an unknown type', { type: 'purchase' }, 'unknown_type'],
    ['no user', { userId: null }, 'missing_id'],
    ['a number that is not finite', { traits: '{"a":1e400}' }, 'non_finite_number'],
    ['a part that is too deep', { traits: '['.repeat(100_000) + ']'.repeat(100_000) }, 'too_deep'],
    ['a message that is too large', { properties: JSON.stringify({ a: 'x'.repeat(32_768) }) }, 'message_too_large'],
  ])('the same rules as for an SDK: %s', (_, message, code) => {
    expect(take(foreign(message))).toMatchObject({ kind: 'rejected', code })
  })
})
