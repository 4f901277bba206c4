import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { createSink, maxBodyBytes, SinkFailed } from '../../../../src/adapters/http/sink-server.ts'
import { signerOf } from '../../../../src/core/delivery/build-and-sign-requests.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { startSink } from '../../../support/webhook/sink.ts'

const secrets = (...texts: string[]) => texts.map(text => new Secret(text))
const hmac = (secret: string, text: string): string => createHmac('sha1', secret).update(text).digest('hex')
const compact = '{"type":"track","properties":{"größe":"ü"}}'

describe('verifies signatures as receivers do', () => {
  it.each<[string, string[], string, string | undefined, boolean | null]>([
    ['no secret: not verified', [], compact, 'whatever', null],
    ['valid', ['s3cret'], compact, hmac('s3cret', compact), true],
    ['what Hookline signs', ['s3cret'], compact, signerOf(new Secret('s3cret'))(Buffer.from(compact)), true],
    ['of another secret', ['s3cret'], compact, hmac('other', compact), false],
    ['first of two', ['old', 'new'], compact, hmac('old', compact), true],
    ['second of two', ['old', 'new'], compact, hmac('new', compact), true],
    ['missing', ['s3cret'], compact, undefined, false],
    ['empty', ['s3cret'], compact, '', false],
    ['cut short', ['s3cret'], compact, hmac('s3cret', compact).slice(0, 39), false],
    ['of another body', ['s3cret'], compact, hmac('s3cret', '{}'), false],
    ['of the re-serialised body', ['s3cret'], '{ "a": 1.0 }', hmac('s3cret', '{"a":1}'), true],
    ['of the raw text, whose re-serialisation differs', ['s3cret'], '{ "a": 1 }', hmac('s3cret', '{ "a": 1 }'), false],
    ['of a body that is not JSON', ['s3cret'], 'not json', hmac('s3cret', 'not json'), false],
  ])('%s', async (_name, given, body, signature, expected) => {
    const { sink, seen, post } = await startSink({ secrets: secrets(...given) })
    await post(body, signature === undefined ? {} : { 'X-Signature': signature })
    expect(seen[0]).toMatchObject({ body, signatureValid: expected })
    expect(await sink.stop()).toEqual({ received: 1, messages: 1, badSignatures: expected === false ? 1 : 0 })
  })
})

describe('the recorded request', () => {
  it('has the path with the query, lower-case headers, the raw body, time and message id', async () => {
    const clock = new ManualClock()
    const { seen, post } = await startSink({ clock })
    await post(' {"a": 1} ', { 'X-Message-Id': 'm-1', 'X-Custom': 'Yes' }, '/hooks?tenant=7')
    expect(seen).toEqual([
      {
        at: clock.now(),
        path: '/hooks?tenant=7',
        headers: expect.objectContaining({ 'x-message-id': 'm-1', 'x-custom': 'Yes', 'content-length': '10' }),
        body: ' {"a": 1} ',
        signatureValid: null,
        messageId: 'm-1',
        answer: 200,
      },
    ])
  })

  it('gets its response only after the hook has finished', async () => {
    const order: string[] = []
    const { post } = await startSink({
      onRequest: async () => {
        await new Promise(resolve => setImmediate(resolve))
        order.push('noted')
      },
    })
    await post('{}')
    order.push('answered')
    expect(order).toEqual(['noted', 'answered'])
  })

  it('counts each message once and every request', async () => {
    const { sink, post } = await startSink()
    for (const id of ['a', 'b', 'a']) await post('{}', { 'X-Message-Id': id })
    for (const body of ['{"x":1}', '{"x":2}', '{"x":1}']) await post(body)
    expect(await sink.stop()).toEqual({ received: 6, messages: 4, badSignatures: 0 })
  })
})

describe('limits of a request', () => {
  it.each<[string, string, string, number]>([
    ['a GET', 'GET', '', 405],
    ['a body above 1 MiB', 'POST', 'x'.repeat(maxBodyBytes + 1), 413],
  ])('does not count %s', async (_name, method, body, status) => {
    const { sink, seen, post } = await startSink()
    expect(await post(body, {}, '/', method)).toMatchObject({ status })
    expect(seen).toEqual([])
    expect(await sink.stop()).toMatchObject({ received: 0 })
  })

  it('accepts a body of exactly 1 MiB', async () => {
    const { post } = await startSink()
    expect(await post('x'.repeat(maxBodyBytes))).toMatchObject({ status: 200 })
  })

  it('accepts the next request after an aborted one', async () => {
    const { sink, url, seen, post } = await startSink()
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await new Promise(resolve => socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"a"', resolve))
    socket.destroy()
    await once(socket, 'close')
    expect(await post('{}')).toMatchObject({ status: 200 })
    expect(seen).toHaveLength(1)
    expect(await sink.stop()).toMatchObject({ received: 1 })
  })
})

describe('listening', () => {
  it('fails when the port is in use', async () => {
    const { url } = await startSink()
    const port = Number(new URL(url).port)
    const second = createSink({ listen: { host: '127.0.0.1', port } })
    const failure = (await second.start().catch((error: unknown) => error)) as SinkFailed
    expect(failure).toBeInstanceOf(SinkFailed)
    expect(failure).toMatchObject({
      code: 'EADDRINUSE',
      message: expect.stringContaining(`cannot listen on 127.0.0.1:${port}: `),
    })
    expect(await second.stop()).toEqual({ received: 0, messages: 0, badSignatures: 0 })
  })

  it('keeps connections', async () => {
    const { post } = await startSink()
    expect((await post('{}')).headers).toMatchObject({ connection: 'keep-alive' })
  })

  it('writes an IPv6 address in brackets', async () => {
    const { url } = await startSink({ listen: { host: '::1', port: 0 } })
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/)
  })

  it('refuses an invalid certificate', () => {
    expect(() => createSink({ tls: { cert: 'x', key: 'y' } })).toThrow(SinkFailed)
  })
})
