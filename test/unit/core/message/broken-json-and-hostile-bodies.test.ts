import { describe, expect, it } from '@jest/globals'
import { take, taken } from '../../../support/collector/normalise-body.ts'

describe('broken JSON in one message affects only that message', () => {
  const good = '{"type":"page","userId":"u"}'
  it('NaN (Python)', () => {
    const bad = '{"type":"page","userId":"u","properties":{"a":NaN}}'
    const body = `{"writeKey":"k","batch":[${good},${bad},${good}],"context":{"ip":"x"}}`
    const outcome = taken(body)
    expect(outcome.rejected).toMatchObject([{ index: 1, code: 'invalid_json' }])
    expect(outcome.messages).toMatchObject([{ context: '{"ip":"x"}' }, { context: '{"ip":"x"}' }])
    expect(taken(`[${bad},${good}]`)).toMatchObject({ rejected: [{ index: 0 }], messages: [{ userId: 'u' }] })
  })

  it.each([
    ['the context of the batch', '{"batch":[NaN],"context":{"a":NaN}}', "'context' of the batch"],
    ['its sentAt', '{"batch":[NaN],"sentAt":now}', "'sentAt' of the batch"],
    ['the text around the messages', '{"batch":[NaN]', 'The body'],
  ])('in %s it fails the request', (_, body, named) => {
    expect(take(body)).toMatchObject({ code: 'invalid_json', message: expect.stringContaining(named) })
  })
})

describe('hostile bodies', () => {
  const deep = 100_000
  it.each<[string, string, Record<string, unknown>]>([
    ['100,000 brackets', '['.repeat(deep), { code: 'invalid_json' }],
    ['4 MiB of brackets', '['.repeat(4_194_304), { code: 'invalid_json' }],
    ['deep nesting in a list', `[${'['.repeat(deep)}${']'.repeat(deep)}]`, { rejected: [{ code: 'not_an_object' }] }],
    [
      'deep nesting in a message',
      `[{"type":"page","userId":1,"a":${'['.repeat(deep)}${']'.repeat(deep)}}]`,
      { rejected: [{ code: 'too_deep' }] },
    ],
    [
      'deep nesting in a truncated message',
      `[NaN,{"type":"page","userId":"u","a":${'{"a":'.repeat(deep / 4)}1${'}'.repeat(deep / 4)}}]`,
      { rejected: [{ code: 'invalid_json' }, { code: 'too_deep' }] },
    ],
    [
      'deep nesting in a message that is too long',
      `[NaN,{"type":"page","userId":"u","a":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}}]`,
      { rejected: [{ code: 'invalid_json' }, { code: 'message_too_large' }] },
    ],
    ['deep nesting of the whole', `{"a":${'['.repeat(deep)}${']'.repeat(deep)}}`, { code: 'invalid_body' }],
    ['a lone surrogate', '[{"type":"page","userId":"\\ud83d"}]', { messages: [{ userId: '\ufffd' }] }],
    ['two members of one name', '[{"type":"track","type":"page","userId":"u"}]', { messages: [{ type: 'page' }] }],
    ['__proto__ as the root’s', '{"__proto__":{"batch":[]},"batch":[]}', { messages: [], rejected: [] }],
    ['a batch in __proto__', '{"__proto__":{"batch":[]}}', { code: 'invalid_body' }],
    ['a number beyond a double', '[{"type":"page","userId":1e999}]', { messages: [{ userId: '1e999' }] }],
  ])('%s', (_, body, expected) => {
    expect({ ...take(body) }).toMatchObject(expected)
  })
})
