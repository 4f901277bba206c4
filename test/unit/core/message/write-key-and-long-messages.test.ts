import { describe, expect, it, jest } from '@jest/globals'
import { readBatch, writeKeyIn } from '../../../../src/core/message/batch.ts'
import type { CallType } from '../../../../src/core/message/message.ts'
import { maxTextLength } from '../../../../src/core/message/message-size-limits.ts'
import { normaliseSome } from '../../../../src/core/message/normalise-batch.ts'
import { receivedAt, take, taken } from '../../../support/collector/normalise-body.ts'

const page = (fields: object = {}): object => ({ type: 'page', userId: 'u', ...fields })

describe('writeKeyIn', () => {
  it.each<[string, string, string | undefined]>([
    ['of a batch', '{"batch":[{"writeKey":"inner"}],"writeKey":"k"}', 'k'],
    ['of one message', ' { "type" : "page" , "writeKey" : "k" } ', 'k'],
    ['with escapes in name and value', '{"writeK\\u0065y":"k\\u0041"}', 'kA'],
    ['the last of two', '{"writeKey":"a","writeKey":"b"}', 'b'],
    ['the last of two, which is not a string', '{"writeKey":"a","writeKey":1}', undefined],
    ['not of an inner object', '{"context":{"writeKey":"k"}}', undefined],
    ['not in __proto__', '{"__proto__":{"writeKey":"k"}}', undefined],
    ['not an empty one', '{"writeKey":""}', undefined],
    ['behind a list without a name', '{"":[1,2],"writeKey":"k"}', 'k'],
    ['not of a list', '["writeKey","k"]', undefined],
    ['in a body that is cut off after it', '{"writeKey":"k","batch":[{"a":', 'k'],
    ['in a body that is cut off within it', '{"writeKey":"k', undefined],
    ['in a body that is broken elsewhere', '{"writeKey":"k","x":NaN}', 'k'],
    ['behind a batch whose element has one brace too many', '{"batch":[{"a":1}},{"b":2}],"writeKey":"k"}', 'k'],
    ['behind a batch with one bracket too many', '{"batch":[1]],"writeKey":"k"}', 'k'],
    ['behind a batch with text after its list', '{"batch":[1] x [2],"writeKey":"k"}', 'k'],
    ['not of an element of a broken batch', '{"batch":[{"a":1}},{"b":2},"writeKey":"k"]}', undefined],
    ['in an empty body', '', undefined],
  ])('%s', (_, body, expected) => {
    expect(writeKeyIn(body)).toBe(expected)
  })
})

describe('does not parse a message that is too long', () => {
  const space = ' '.repeat(maxTextLength)
  const long = (fields: string): string => `{"type":"page","userId":"u",${fields}"x":${space}1}`
  it.each<[string, string, CallType | undefined, object]>([
    ['a message of a batch', `{"batch":[${long('')},{"type":"page","userId":"u"}]}`, undefined, { index: 0 }],
    ['with its id', `[${long('"messageId":"m",')}]`, undefined, { messageId: 'm' }],
    [
      'with its id as written',
      `[${long('"messageId":12345678901234567890,')}]`,
      undefined,
      { messageId: '12345678901234567890' },
    ],
    ['with no id of an inner object', `[${long('"context":{"messageId":"m"},')}]`, undefined, { messageId: undefined }],
    ['with an invalid id', `[${long('"messageId":{"a":"m"},')}]`, undefined, { messageId: undefined }],
    ['one message', long('"messageId":"m",'), undefined, { messageId: 'm' }],
    ['one message of the type of the path', long('"messageId":"m",'), 'page', { messageId: 'm' }],
  ])('%s', (_, body, type, expected) => {
    const parse = jest.spyOn(JSON, 'parse')
    const { rejected } = taken(body, type)
    const longest = Math.max(...parse.mock.calls.map(([text]) => text.length), 0)
    parse.mockRestore()
    expect(rejected).toMatchObject([{ code: 'message_too_large', ...expected }])
    expect(longest).toBeLessThan(100)
  })

  it('parses a message of that length, with any content', () => {
    const message = '{"type":"page","userId":"u"}'
    const escaped = [...'x'.repeat(32_700)].map(() => '\\u0078').join('')
    expect(taken(`[${message}${' '.repeat(maxTextLength - message.length)}]`).messages).toHaveLength(1)
    expect(
      taken(`[{"type":"page","userId":"u","properties":{"":"${escaped.slice(0, 6 * 32_000)}"}}]`).messages,
    ).toHaveLength(1)
  })

  it.each<[string, string, CallType | undefined, string]>([
    ['a list where the path says one message', `[${space}]`, 'page', 'invalid_body'],
    ['an object without a type', `{"a":${space}1}`, undefined, 'invalid_body'],
    ['a string', `"${space}"`, undefined, 'invalid_body'],
    ['a string where the path says one message', `"${space}"`, 'page', 'invalid_body'],
    ['brackets', '['.repeat(maxTextLength + 1), 'page', 'invalid_json'],
    ['text that is not JSON', `x${space}`, 'page', 'invalid_json'],
    ['an object that does not end', `{"type":"page","a":[${space}`, undefined, 'invalid_json'],
    ['the context of a batch', `{"batch":[],"context":{"a":${space}1}}`, undefined, 'payload_too_large'],
  ])('refused: %s', (_, body, type, code) => {
    expect(take(body, type)).toMatchObject({ kind: 'refused', code })
  })

  it('ignores batch fields that have only white space', () => {
    const beside = `"context":[${space}],"sentAt":"${space}","writeKey":[${space}]`
    expect(readBatch(`{"batch":[],${beside}}`, undefined)).toMatchObject({
      context: undefined,
      sentAt: undefined,
    })
  })

  it('finds the write key of a long message', () => {
    expect(writeKeyIn(long('"writeKey":"k",'))).toBe('k')
  })
})

describe('the parts of a long request', () => {
  it('have some tens of kilobytes, and at least one message each', () => {
    const batch = readBatch(
      JSON.stringify({ batch: Array(5).fill(page({ properties: { a: 'x'.repeat(30_000) } })) }),
      undefined,
    )
    if (batch.kind === 'refused') throw new Error(batch.message)
    const parts = [0, 3, 4].map(from => normaliseSome(batch, from, { receivedAt, newId: () => 'id' }))
    expect(parts.map(({ messages, next }) => [messages.length, next])).toEqual([
      [3, 3],
      [2, 5],
      [1, 5],
    ])
  })

  it('include the fields that the batch adds to each message', () => {
    const context = { a: 'x'.repeat(30_000) }
    const batch = readBatch(JSON.stringify({ context, batch: [page(), page(), page(), page()] }), undefined)
    if (batch.kind === 'refused') throw new Error(batch.message)
    expect(normaliseSome(batch, 0, { receivedAt, newId: () => 'id' }).next).toBe(3)
  })
})
