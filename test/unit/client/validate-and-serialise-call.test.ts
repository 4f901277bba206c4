import { describe, expect, it } from '@jest/globals'
import type { Track } from '../../../packages/client/src/call-types.ts'
import { FieldError, MessageTooLarge } from '../../../packages/client/src/errors.ts'
import { entryOf } from '../../../packages/client/src/validate-and-serialise-call.ts'
import { normalise } from '../../../src/core/message/normalise.ts'
import { epochMs } from '../../../src/core/time.ts'

const now = Date.parse('2026-03-01T12:00:00.000Z')
const entry = (type: Parameters<typeof entryOf>[0], call: unknown) =>
  entryOf(type, call, { now: () => now, newId: () => 'new-id' })
const message = (type: Parameters<typeof entryOf>[0], call: unknown): unknown => JSON.parse(entry(type, call).text)
const errorOf = (type: Parameters<typeof entryOf>[0], call: unknown): unknown => {
  try {
    return entry(type, call)
  } catch (error) {
    return error
  }
}
const assigned = { messageId: 'new-id', timestamp: '2026-03-01T12:00:00.000Z' }

describe('a valid call', () => {
  it('may have properties with the type of an interface or a class', () => {
    interface Order {
      readonly total: number
    }
    class Cart {
      readonly items = 2
    }
    const order: Order = { total: 5 }
    const calls: readonly Track[] = [
      { userId: 'u', event: 'E', properties: order },
      { userId: 'u', event: 'E', properties: new Cart() },
    ]
    expect(calls.map(call => message('track', call))).toMatchObject([
      { properties: { total: 5 } },
      { properties: { items: 2 } },
    ])
  })

  it.each([Promise.resolve({}), new Map(), new Set(), new Date()])('must not have %p as properties', properties => {
    expect(errorOf('track', { userId: 'u', event: 'E', properties })).toMatchObject({ code: 'not_an_object' })
  })

  it('must not have traits of a page that toJSON turns into no object', () => {
    const traits = { toJSON: () => undefined }
    expect(errorOf('page', { userId: 'u', traits, properties: {} })).toMatchObject({ code: 'not_an_object' })
  })

  /** An object with a field that `toJSON` does not write. */
  class Written {
    readonly fields: object
    constructor(fields: object) {
      this.fields = fields
    }
    toJSON(): object {
      return this.fields
    }
  }
  const epoch = '1970-01-01T00:00:00.000Z'
  const other = { integrations: { All: false, Webhooks: true }, context: { ip: '::1' } }
  it.each([
    ['identify', { userId: 'u', traits: { plan: 'pro' } }, { userId: 'u', traits: { plan: 'pro' } }],
    ['track', { anonymousId: 'a', event: 'E' }, { anonymousId: 'a', event: 'E' }],
    ['page', { userId: 'u', name: 'N', category: 'C' }, { userId: 'u', name: 'N', category: 'C' }],
    ['screen', { userId: 'u', properties: { a: 1 } }, { userId: 'u', properties: { a: 1 } }],
    ['group', { userId: 'u', groupId: 'g' }, { userId: 'u', groupId: 'g' }],
    ['alias', { userId: 'new', previousId: 'old' }, { userId: 'new', previousId: 'old' }],
  ] as const)('%s', (type, call, expected) => {
    expect(message(type, call)).toEqual({ type, ...assigned, ...expected })
  })

  it.each<[string, call: object, expected: object]>([
    ['a number as id', { userId: 42 }, { userId: '42' }],
    ['a bigint as id', { userId: 12345678901234567890n }, { userId: '12345678901234567890' }],
    ['an empty id is omitted', { anonymousId: '' }, {}],
    ['traits of a page become properties', { traits: { url: '/' } }, { properties: { url: '/' } }],
    [
      'properties of a page override its traits',
      { traits: { url: '/', title: 'T' }, properties: { url: '/p' } },
      { properties: { url: '/p', title: 'T' } },
    ],
    ['traits of a page with toJSON', { traits: new Written({ url: '/' }) }, { properties: { url: '/' } }],
    [
      'traits and properties of a page with toJSON',
      { traits: new Written({ url: '/' }), properties: new Written({ title: 'T' }) },
      { properties: { url: '/', title: 'T' } },
    ],
    ['integrations and context', other, other],
    ['messageId of the caller', { messageId: 'mine' }, { messageId: 'mine' }],
    ['type of the caller is ignored', { type: 'delete' }, {}],
    ['a Date', { timestamp: new Date(0) }, { timestamp: epoch }],
    ['ISO 8601 with an offset', { timestamp: '1970-01-01T01:00:00.000+01:00' }, { timestamp: epoch }],
    ['nested dates like JSON.stringify', { properties: { at: new Date(0) } }, { properties: { at: epoch } }],
  ])('%s', (_, call, expected) => {
    expect(message('page', { userId: 'u', ...call })).toEqual({ type: 'page', ...assigned, userId: 'u', ...expected })
  })

  it('is measured in UTF-8 bytes', () => {
    const { text, bytes } = entry('identify', { userId: 'ü😀' })
    expect(bytes).toBe(Buffer.from(text).length)
  })

  it.each([
    ['identify', { userId: 1, traits: { a: [1, null] } }],
    ['group', { anonymousId: 'a', groupId: 2, timestamp: 1_400_000_000 }],
    ['page', { userId: 'u', traits: { title: 'T' }, messageId: 'with space' }],
  ] as const)('is accepted unchanged by the collector: %s', (type, call) => {
    const { messageId, text } = entry(type, call)
    const reception = { receivedAt: epochMs(now), sentAt: undefined, newId: () => 'none' }
    expect(normalise(JSON.parse(text), reception)).toMatchObject({ kind: 'message', message: { type, messageId } })
  })
})

describe('missing identifiers, in the order of the checks', () => {
  const someone = "You must pass either an 'anonymousId' or 'userId'."
  it.each([
    ['identify', {}, 'missing_id', someone],
    ['track', {}, 'missing_event', "You must pass 'event'."],
    ['track', { event: '', userId: 'u' }, 'missing_event', "You must pass 'event'."],
    ['track', { event: 'E' }, 'missing_id', someone],
    ['page', { userId: '' }, 'missing_id', someone],
    ['screen', { userId: null }, 'missing_id', someone],
    ['group', {}, 'missing_group_id', "You must pass a 'groupId'."],
    ['group', { groupId: 'g' }, 'missing_id', someone],
    ['alias', {}, 'missing_user_id', "You must pass a 'userId'."],
    ['alias', { userId: 'u' }, 'missing_previous_id', "You must pass a 'previousId'."],
    ['alias', { anonymousId: 'a', previousId: 'p' }, 'missing_user_id', "You must pass a 'userId'."],
  ] as const)('%s %j', (type, call, code, text) => {
    const error = errorOf(type, call)
    expect(error).toBeInstanceOf(FieldError)
    expect(error).toMatchObject({ code, message: text })
  })
})

describe('other invalid fields', () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = { circular }
  it.each([
    ['no argument', undefined, 'not_an_object', 'Pass an object: identify({ userId, … }).'],
    ['a string instead of an object', 'u', 'not_an_object', 'Pass an object: identify({ userId, … }).'],
    ['traits as a string', { userId: 'u', traits: 'x' }, 'not_an_object', "'traits' must be an object."],
    ['a list as context', { userId: 'u', context: [1] }, 'not_an_object', "'context' must be an object."],
    [
      'NaN as the user id',
      { userId: Number.NaN },
      'non_finite_number',
      "'userId' is NaN: pass a string or a finite number.",
    ],
    [
      'an infinite id beside a valid one',
      { userId: 'u', anonymousId: Number.NEGATIVE_INFINITY },
      'non_finite_number',
      "'anonymousId' is -Infinity: pass a string or a finite number.",
    ],
    ['NaN as the message id', { userId: 'u', messageId: Number.NaN }, 'non_finite_number', /^'messageId' is NaN/],
    [
      'an invalid Date',
      { userId: 'u', timestamp: new Date(Number.NaN) },
      'invalid_timestamp',
      /^'timestamp' is invalid/,
    ],
    ['an impossible date', { userId: 'u', timestamp: '2012-02-30' }, 'invalid_timestamp', /^'timestamp' is invalid/],
    [
      'a circular structure',
      { userId: 'u', traits: circular },
      'not_serialisable',
      /^'traits' cannot be written as JSON: .*circular/,
    ],
    [
      'a nested bigint',
      { userId: 'u', context: { n: 1n } },
      'not_serialisable',
      /^'context' cannot be written .*BigInt/,
    ],
  ])('%s', (_, call, code, text) => {
    const error = errorOf('identify', call)
    expect(error).toBeInstanceOf(FieldError)
    expect(error).toMatchObject({ code, message: typeof text === 'string' ? text : expect.stringMatching(text) })
  })
})

describe('32 KiB limit of a message', () => {
  const frame = entry('identify', { userId: 'u', traits: { x: '' } }).bytes
  const sized = (fill: string) => errorOf('identify', { userId: 'u', traits: { x: fill } })

  it('accepts 32768 bytes', () => {
    expect(sized('x'.repeat(32_768 - frame))).toMatchObject({ bytes: 32_768 })
  })

  it.each([
    ['rejects one byte more', 'x'.repeat(32_769 - frame), 32_769],
    ['counts bytes, not characters', 'ü'.repeat(20_000), frame + 40_000],
  ])('%s', (_, fill, bytes) => {
    const error = sized(fill)
    expect(error).toBeInstanceOf(MessageTooLarge)
    expect(error).toMatchObject({
      code: 'message_too_large',
      bytes,
      message: expect.stringContaining(`${bytes} bytes`),
    })
  })
})
