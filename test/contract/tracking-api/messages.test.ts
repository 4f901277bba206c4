import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import type { Message } from '../../../src/core/message/message.ts'
import { expectAnswer, problem, taken } from '../../support/collector/cases.ts'
import { asWeb, page, serveCollector } from '../../support/collector/served-collector.ts'
import { basic, type Fields } from '../../support/network/http-bytes.ts'

const { collector, exchange } = serveCollector()

interface Row {
  readonly name: string
  readonly body: unknown
  readonly messages: readonly Partial<Message>[]
  readonly path?: string
  readonly headers?: Fields
}

describe('accepted messages and the events that they become', () => {
  it.each<Row>([
    { name: 'a batch', body: { batch: [page('a'), page('b')] }, messages: [{ messageId: 'a' }, { messageId: 'b' }] },
    { name: 'an empty batch', body: { batch: [] }, messages: [] },
    {
      name: 'a list without an envelope',
      body: [page('a'), page('b')],
      messages: [{ messageId: 'a' }, { messageId: 'b' }],
    },
    { name: 'one message without a batch', body: page('a'), messages: [{ type: 'page', messageId: 'a' }] },
    { name: 'gzip', body: gzipSync(JSON.stringify({ batch: [page('a')] })), messages: [{ messageId: 'a' }] },
    {
      name: 'a byte order mark',
      body: `\ufeff${JSON.stringify({ batch: [page('a')] })}`,
      messages: [{ messageId: 'a' }],
    },
    {
      name: 'the type of the path, without one in the message',
      path: '/v1/track',
      body: { userId: 'u', event: 'E' },
      messages: [{ type: 'track', event: 'E' }],
    },
    {
      name: 'the type of the path takes precedence over that of the message',
      path: '/v1/p',
      body: { type: 'track', userId: 'u' },
      messages: [{ type: 'page' }],
    },
    {
      name: "Jitsu's path",
      path: '/api/s/identify',
      body: { type: 'identify', userId: 'u', traits: { a: 1 } },
      messages: [{ type: 'identify', traits: '{"a":1}' as Message['traits'] }],
    },
    {
      name: 'the context of the batch, under that of the message',
      body: { batch: [page('a', { context: { ip: '1.2.3.4' } })], context: { ip: '9.9.9.9', library: { name: 'go' } } },
      messages: [{ context: '{"ip":"1.2.3.4","library":{"name":"go"}}' as Message['context'] }],
    },
    {
      name: 'the integrations of the batch',
      body: { batch: [page('a')], integrations: { All: false } },
      messages: [{ integrations: '{"All":false}' as Message['integrations'] }],
    },
    {
      name: 'RudderStack’s originalTimestamp',
      body: { batch: [page('a', { originalTimestamp: '2015-02-02T10:00:00.000Z' })] },
      messages: [{ timestamp: Date.parse('2015-02-02T10:00:00.000Z') as Message['timestamp'] }],
    },
    {
      name: 'Go 2’s time without milliseconds',
      body: { batch: [page('a', { timestamp: '2009-11-10T23:00:00-0800' })] },
      messages: [{ timestamp: Date.parse('2009-11-11T07:00:00Z') as Message['timestamp'] }],
    },
    {
      name: 'a number as an id, to its last digit',
      body: '{"batch":[{"type":"page","userId":9007199254740993,"messageId":1}]}',
      messages: [{ userId: '9007199254740993', messageId: '1' }],
    },
    {
      name: 'Python’s nulls',
      body: { batch: [page('a', { anonymousId: null, timestamp: null, context: null })] },
      messages: [{ messageId: 'a' }],
    },
    {
      name: 'PHP’s empty objects',
      body: { batch: [page('a', { properties: [], context: [] })] },
      messages: [{ properties: '{}' as Message['properties'] }],
    },
    {
      name: 'Python’s identify, with its traits in the context',
      body: { batch: [{ type: 'identify', userId: 'u', context: { traits: { a: 1 } } }] },
      messages: [{ traits: '{"a":1}' as Message['traits'] }],
    },
    {
      name: 'a message of the Rust SDK: no id, no time',
      path: '/v1/track',
      body: { userId: 'u', event: 'E', properties: {} },
      messages: [
        {
          messageId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown as string,
          timestamp: expect.any(Number) as unknown as Message['timestamp'],
        },
      ],
    },
    {
      name: 'lone surrogates and invalid bytes',
      body: Buffer.from('{"batch":[{"type":"page","userId":"\\ud83d","messageId":"\xff"}]}', 'latin1'),
      messages: [{ userId: '\ufffd' }],
    },
  ])('$name', async ({ body, messages, path = '/v1/batch', headers = asWeb }) => {
    expectAnswer(await exchange(body, path, headers), taken)
    expect(collector.messages()).toEqual(messages.map(each => expect.objectContaining(each)))
  })

  it('a batch of 2,500 messages with 511,767 bytes, as the Rust SDK sends it', async () => {
    const batch = Array.from({ length: 2_500 }, (_, index) =>
      page(`m-${index}`, { properties: { x: 'y'.repeat(120) } }),
    )
    expectAnswer(await exchange({ batch }), taken)
    expect(collector.messages().map(({ messageId }) => messageId)).toEqual(batch.map((_, index) => `m-${index}`))
  })
})

describe('the source of a message', () => {
  const one = { batch: [page('a')] }
  it.each<[string, Fields, string, object, string]>([
    ['Basic', asWeb, '/v1/batch', one, 'web'],
    [
      'Basic without the colon',
      { Authorization: `Basic ${Buffer.from('KEY').toString('base64')}` },
      '/v1/batch',
      one,
      'web',
    ],
    ['X-Write-Key', { 'X-Write-Key': 'KEY' }, '/v1/batch', one, 'web'],
    ['X-Write-Key with a secret', { 'X-Write-Key': 'KEY:secret' }, '/v1/batch', one, 'web'],
    ['X-Write-Key of a key with a colon', { 'X-Write-Key': 'a:b' }, '/v1/batch', one, 'app'],
    ['the body', {}, '/v1/batch', { ...one, writeKey: 'KEY' }, 'web'],
    ['the body of one message', {}, '/v1/p', { userId: 'u', writeKey: 'KEY' }, 'web'],
    ['the query', {}, '/beacon/v1/batch?writeKey=KEY', one, 'web'],
    ['the header rather than the body, where Jitsu masks it', asWeb, '/v1/batch', { ...one, writeKey: '***' }, 'web'],
    ['the header rather than the query', asWeb, '/v1/batch?writeKey=other', one, 'web'],
    ['the body rather than the query', {}, '/v1/batch?writeKey=other', { ...one, writeKey: 'KEY' }, 'web'],
    [
      'the body, when the header has no key',
      { Authorization: 'Bearer token' },
      '/v1/batch',
      { ...one, writeKey: 'KEY' },
      'web',
    ],
  ])('%s', async (_, headers, path, body, source) => {
    expectAnswer(await exchange(body, path, headers), taken)
    expect(collector.events().map(({ sourceId }) => sourceId)).toEqual([source])
  })

  const noKey = problem(401, 'invalid_write_key')
  it.each<[string, Fields, string, object]>([
    ['no key at all', {}, '/v1/batch', one],
    ['an unknown key in a header', { Authorization: basic('nobody') }, '/v1/batch', one],
    [
      'an unknown key in a header, and a valid one in the body',
      { Authorization: basic('nobody') },
      '/v1/batch',
      { ...one, writeKey: 'KEY' },
    ],
    ['an unknown key in the body', {}, '/v1/batch', { ...one, writeKey: 'nobody' }],
    ['an unknown key in the query', {}, '/v1/batch?writeKey=nobody', one],
    ['a key in another case', { 'X-Write-Key': 'key' }, '/v1/batch', one],
    ['a key that is not a string', {}, '/v1/batch', { ...one, writeKey: 7 }],
    ['the name of a JavaScript object property', { 'X-Write-Key': 'constructor' }, '/v1/batch', one],
  ])('no source: %s', async (_, headers, path, body) => {
    const answer = await exchange(body, path, headers)
    expectAnswer(answer, noKey)
    expect(answer.body).not.toContain('nobody')
    expect(collector.events()).toEqual([])
  })
})
