import { describe, expect, it } from '@jest/globals'
import { maxElements, maxMessages, writeKeyIn } from '../../../../src/core/message/batch.ts'
import type { CallType, Message } from '../../../../src/core/message/message.ts'
import { type Normalised, receivedAt, take, taken } from '../../../support/collector/normalise-body.ts'

/** Fails if the body has rejected messages. */
function only(body: unknown, type?: CallType): Message {
  const { messages, rejected } = taken(body, type)
  expect(rejected).toEqual([])
  expect(messages).toHaveLength(1)
  return messages[0]!
}

const page = (fields: object = {}): object => ({ type: 'page', userId: 'u', ...fields })
const ids = ({ messages }: Normalised): readonly string[] => messages.map(({ messageId }) => messageId)

describe('forms of a body', () => {
  it.each<[string, unknown, CallType | undefined]>([
    ['a batch', { batch: [page()] }, undefined],
    ['with unknown members', { batch: [page()], sequence: 1, _metadata: {}, timestamp: 'x' }, undefined],
    ['a list of messages', [page()], undefined],
    ['one message on a path for batches', page(), undefined],
    ['one message of the type of the path', { userId: 'u' }, 'page'],
    ['the type of the path rather than of the message (Jitsu, RudderStack)', page({ type: 'track' }), 'page'],
    ['the type of the path, for a message with a member batch', page({ batch: [] }), 'page'],
  ])('%s', (_, body, type) => {
    expect(only(body, type)).toMatchObject({ type: 'page', userId: 'u', messageId: 'new-1', timestamp: receivedAt })
  })

  it('accepts an empty batch', () => {
    expect(taken({ batch: [] })).toEqual({ messages: [], rejected: [], droppedKeys: 0 })
  })

  it.each<[string, string, unknown, CallType | undefined]>([
    ['an empty body', 'invalid_json', '', undefined],
    ['one message that is not JSON', 'invalid_json', '{"userId":NaN}', 'page'],
    ['text that is not JSON and has no batch', 'invalid_json', '{"type":"page","userId":NaN}', undefined],
    ['text', 'invalid_body', '"batch"', undefined],
    ['null', 'invalid_body', 'null', undefined],
    ['neither batch nor type', 'invalid_body', { messages: [] }, undefined],
    ['a batch that is not a list', 'invalid_body', { batch: { 0: page() } }, undefined],
    ['a list where the path says one message', 'invalid_body', [page()], 'page'],
    ['a number where the path says one message', 'invalid_body', '1', 'page'],
  ])('refused: %s', (_, code, body, type) => {
    expect(take(body, type)).toMatchObject({
      kind: 'refused',
      code,
      message: expect.stringMatching(/\S/),
      rejected: [],
    })
  })

  it('describes JSON errors without repeating the text', () => {
    expect(take('{"secret":"s3cret",}')).toMatchObject({ message: expect.not.stringContaining('s3cret') })
  })
})

describe('write key of the body', () => {
  it.each<[string, unknown, string | undefined]>([
    ['of a batch (Java, Kotlin, Python)', { batch: [], writeKey: 'k' }, 'k'],
    ['of a message', page({ writeKey: 'k' }), 'k'],
    ['of a message on a path for batches', page({ writeKey: 'k' }), 'k'],
    ['of a batch with invalid JSON', '{"batch":[NaN],"writeKey":"k"}', 'k'],
    ['none', { batch: [] }, undefined],
    ['not of a list', [], undefined],
    ['not an empty one', { batch: [], writeKey: '' }, undefined],
    ['not a number', { batch: [], writeKey: 1 }, undefined],
  ])('%s', (_, body, expected) => {
    expect(writeKeyIn(typeof body === 'string' ? body : JSON.stringify(body))).toBe(expected)
  })
})

describe('ids', () => {
  const big = '12345678901234567890'
  it.each([
    ['in one message', `{"type":"page","userId":${big}}`, undefined],
    ['in one message of the type of the path', `{"userId":${big}}`, 'page' as const],
  ])('a number keeps its digits as written, %s', (_, body, type) => {
    expect(only(body, type).userId).toBe(big)
  })

  it('keeps given fields, and assigns missing ones', () => {
    expect(ids(taken({ batch: [page({ messageId: 'mine' }), page(), page({ messageId: null })] }))).toEqual([
      ...['mine', 'new-1', 'new-2'],
    ])
  })
})

describe('the fields of the batch', () => {
  it('context and integrations are merged into each message, whose own fields take precedence', () => {
    const body = {
      context: { library: { name: 'go' }, ip: '1.1.1.1' },
      integrations: { All: false, Webhooks: true },
      batch: [page(), page({ context: { ip: '2.2.2.2' }, integrations: { All: true } })],
    }
    expect(taken(body).messages.map(({ context, integrations }) => [context, integrations])).toEqual([
      ['{"library":{"name":"go"},"ip":"1.1.1.1"}', '{"All":false,"Webhooks":true}'],
      ['{"library":{"name":"go"},"ip":"2.2.2.2"}', '{"All":true,"Webhooks":true}'],
    ])
  })

  it('sentAt applies to messages without their own', () => {
    const timestamp = '2026-11-21T13:59:00.000Z'
    const times = taken({
      sentAt: '2026-11-21T14:00:00.000Z',
      batch: [page({ timestamp }), page({ timestamp, sentAt: '2026-11-21T12:00:00.000Z' })],
    }).messages.map(message => new Date(message.timestamp).toISOString())
    expect(times).toEqual(['2026-11-21T11:59:00.000Z', '2026-11-21T13:59:00.000Z'])
  })

  it('the context of a single message is not a batch context', () => {
    expect(only(page({ context: { ip: 'x' }, sentAt: 'never' })).context).toBe('{"ip":"x"}')
  })

  const filling = (bytes: number): object => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
  it.each([
    ['at the limit', filling(32_766), {}, undefined],
    ['at the limit, together', filling(16_384), filling(16_384), undefined],
    ['over the limit', filling(32_767), {}, 'payload_too_large'],
    ['over the limit, together', filling(16_384), filling(16_385), 'payload_too_large'],
    ['bytes count, not characters: at the limit', { a: 'é'.repeat(16_379) }, {}, undefined],
    ['bytes count, not characters: over it', { a: 'é'.repeat(16_380) }, {}, 'payload_too_large'],
    ['too deep', JSON.parse(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`), {}, 'invalid_body'],
  ])('32,768 bytes: %s', (_, context, integrations, code) => {
    const outcome = take({ batch: [page()], context, integrations })
    if (code === undefined) expect(outcome).toMatchObject({ rejected: [], messages: [{ type: 'page' }] })
    else expect(outcome).toMatchObject({ kind: 'refused', code })
  })

  it('limits the context together with the number of messages, so that a small body stays small', () => {
    const batch = (size: number): unknown => take({ batch: Array(size).fill(page()), context: filling(32_766) })
    expect(batch(256)).toMatchObject({ rejected: [], messages: { length: 256 } })
    expect(batch(257)).toMatchObject({ kind: 'refused', code: 'payload_too_large' })
    // Only 2,500 messages of a batch can be accepted and get a copy of its `context`.
    expect(batch(maxElements)).toMatchObject({
      message: expect.stringContaining(', and 2500 messages get a copy of them.'),
    })
  })

  it.each([
    ['no object', { context: 'x', integrations: 5 }],
    ['PHP’s empty object', { context: [], integrations: [] }],
    ['null', { context: null, integrations: null, sentAt: null }],
  ])('%s counts as absent', (_, beside) => {
    expect(only({ ...beside, batch: [page()] })).toMatchObject({ context: undefined, integrations: undefined })
  })
})

describe('the limit of 32,768 bytes of a message', () => {
  it.each<[string, string, CallType | undefined]>([
    ['the quotes of numeric ids', '{"type":"page","userId":7,"groupId":1.50,"name":"', undefined],
    ['the type of the path', '{"userId":"u","name":"', 'page'],
    ['the quotes of a numeric id, and the type of the path', '{"type":"","userId":7,"name":"', 'page'],
  ])('does not count %s', (_, start, type) => {
    const ofBytes = (bytes: number): string => {
      const message = `${start}${'x'.repeat(bytes - start.length - 2)}"}`
      return type === undefined ? `[${message}]` : message
    }
    expect(only(ofBytes(32_768), type).type).toBe('page')
    expect(taken(ofBytes(32_769), type).rejected).toMatchObject([
      { code: 'message_too_large', message: expect.stringContaining('has 32769 bytes') },
    ])
  })
})

describe('each message is validated alone', () => {
  it('accepts the valid messages in order, and lists the others by position, id and reason', () => {
    const outcome = taken({
      batch: [
        ...[page({ messageId: 'a' }), { type: 'page', messageId: 'b' }, 'page', page({ messageId: 'd' })],
        ...[page({ messageId: 5, timestamp: 'now' }), page({ messageId: '', properties: { a: 'x'.repeat(32_768) } })],
      ],
    })
    expect(ids(outcome)).toEqual(['a', 'd'])
    expect(outcome.rejected.map(({ message, ...rejected }) => rejected)).toEqual([
      { index: 1, messageId: 'b', code: 'missing_id' },
      { index: 2, messageId: undefined, code: 'not_an_object' },
      { index: 4, messageId: '5', code: 'invalid_timestamp' },
      { index: 5, messageId: undefined, code: 'message_too_large' },
    ])
  })

  it('counts the removed fields of accepted messages', () => {
    const text = '{"batch":[{"type":"page","userId":"u","__proto__":1,"properties":{"__proto__":2}},{"__proto__":3}]}'
    expect(taken(text)).toMatchObject({ droppedKeys: 2, messages: [{ properties: '{}' }] })
  })

  it(`of more than ${maxMessages} messages, each further one is rejected`, () => {
    const outcome = taken({
      batch: Array.from({ length: maxMessages + 2 }, (_, index) => page({ messageId: `m${index}` })),
    })
    expect(outcome.messages).toHaveLength(maxMessages)
    expect(outcome.rejected).toMatchObject([
      { index: 2_500, messageId: 'm2500', code: 'too_many_messages' },
      { index: 2_501, messageId: 'm2501', code: 'too_many_messages' },
    ])
  })

  it.each([
    ['in valid JSON', `[${'0,'.repeat(maxElements)}0]`],
    ['in invalid JSON', `[${'0,'.repeat(maxElements)}]`],
  ])(`a body with more than ${maxElements} elements is refused, %s`, (_, body) => {
    expect(take(body)).toMatchObject({ kind: 'refused', code: 'payload_too_large' })
    expect(taken(body.replace('0,', ''))).toMatchObject({ messages: [] })
  })
})
