import { describe, expect, it } from '@jest/globals'
import type { Message } from '../../../src/core/message/message.ts'
import { expectAnswer, problem, taken } from '../../support/collector/raw-request-harness.ts'
import { asWeb, page, serveCollector } from '../../support/collector/served-collector.ts'
import { basic, type Fields } from '../../support/network/http-request-bytes.ts'

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
    {
      name: 'the type of the path takes precedence over that of the message',
      path: '/v1/p',
      body: { type: 'track', userId: 'u' },
      messages: [{ type: 'page' }],
    },
    {
      name: 'the context of the batch, under that of the message',
      body: { batch: [page('a', { context: { ip: '1.2.3.4' } })], context: { ip: '9.9.9.9', library: { name: 'go' } } },
      messages: [{ context: '{"ip":"1.2.3.4","library":{"name":"go"}}' as Message['context'] }],
    },
    {
      name: 'RudderStack’s originalTimestamp',
      body: { batch: [page('a', { originalTimestamp: '2015-02-02T10:00:00.000Z' })] },
      messages: [{ timestamp: Date.parse('2015-02-02T10:00:00.000Z') as Message['timestamp'] }],
    },
    {
      name: 'a number as an id, to its last digit',
      body: '{"batch":[{"type":"page","userId":9007199254740993,"messageId":1}]}',
      messages: [{ userId: '9007199254740993', messageId: '1' }],
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
  it('is that of the key in the body, when the header has none', async () => {
    const headers = { Authorization: 'Bearer token' }
    expectAnswer(await exchange({ batch: [page('a')], writeKey: 'KEY' }, '/v1/batch?writeKey=other', headers), taken)
    expect(collector.events().map(({ sourceId }) => sourceId)).toEqual(['web'])
  })

  it('is missing for an unknown key in a header, with a valid one in the body', async () => {
    const headers = { Authorization: basic('nobody') }
    const answer = await exchange({ batch: [page('a')], writeKey: 'KEY' }, '/v1/batch', headers)
    expectAnswer(answer, problem(401, 'invalid_write_key'))
    expect(answer.body).not.toContain('nobody')
    expect(collector.events()).toEqual([])
  })
})
