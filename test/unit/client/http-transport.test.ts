import { describe, expect, it } from '@jest/globals'
import { createHttpTransport } from '../../../packages/client/src/http-transport.ts'
import { library } from '../../../packages/client/src/version.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { entry } from '../../support/client/sender-harness.ts'
import { selfSigned } from '../../support/network/certificates.ts'
import {
  afterRequest,
  answer,
  answering,
  flood,
  type Script,
  startScriptedServer,
} from '../../support/webhook/scripted-tcp-server.ts'

const closing = closingAfterEach()
const sentAt = Date.parse('2026-03-01T12:00:00.000Z')
const id = '2f3f8b62-8d5c-4d5b-9a2e-0f6f3b7c1d00'
const batch = { id, messages: [entry('m1'), entry('m2')] }
const ok = answer(200, { 'Content-Type': 'application/json' }, '{"success":true}')

async function against(script: Script, options: { writeKey?: string; timeoutMs?: number } = {}) {
  const receiver = closing(await startScriptedServer(script))
  const transport = createHttpTransport({
    url: receiver.url('/v1/batch'),
    writeKey: options.writeKey ?? 'key',
    timeoutMs: options.timeoutMs ?? 10_000,
    now: () => sentAt,
  })
  const send = (retry = 0, signal = new AbortController().signal) => transport.send(batch, retry, signal)
  return { receiver, transport, send }
}

describe('the request', () => {
  it('has this method, URL, headers and body', async () => {
    const { receiver, send } = await against(answering(ok))
    expect(await send()).toEqual({ kind: 'taken', rejected: [] })
    const [request] = receiver.requests
    expect(request).toMatchObject({ method: 'POST', path: '/v1/batch' })
    const headers = Object.fromEntries((request?.headers ?? []).map(([name, value]) => [name.toLowerCase(), value]))
    expect(headers).toMatchObject({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      authorization: 'Basic a2V5Og==',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(request?.body ?? '')),
      'user-agent': `hookline/${library.version}`,
    })
    expect(headers).not.toHaveProperty('x-retry-count')
    expect(headers).not.toHaveProperty('content-encoding')
    expect(request?.body).toBe(
      `{"batch":[${batch.messages.map(({ text }) => text).join(',')}],"messageId":"${id}",` +
        `"sentAt":"2026-03-01T12:00:00.000Z","writeKey":"key","context":{"library":{"name":"hookline","version":"${library.version}"}}}`,
    )
  })

  it('has the retry count', async () => {
    const { receiver, send } = await against(answering(ok))
    await send(3)
    expect(receiver.requests[0]?.headers).toContainEqual(['x-retry-count', '3'])
  })

  it('uses a kept-alive connection until the transport is closed', async () => {
    const ends: Promise<void>[] = []
    const { receiver, send, transport } = await against(peer => {
      ends.push(peer.closed)
      return answering(ok)(peer)
    })
    for (let count = 0; count < 20; count += 1) await send()
    // A request that starts before the connection is back in the pool opens a second connection,
    // but never a third.
    expect(receiver.connections()).toBeLessThanOrEqual(2)
    await transport.close?.()
    await Promise.all(ends)
  })

  it.each(['key', 'schlüssel"\\😀'])(
    'has envelopeBytes bytes besides its messages, with write key %s',
    async writeKey => {
      const { receiver, transport, send } = await against(answering(ok), { writeKey })
      await send()
      const joined = batch.messages.map(({ text }) => text).join(',')
      const [request] = receiver.requests
      expect(Buffer.byteLength(request?.body ?? '')).toBe(transport.envelopeBytes + Buffer.byteLength(joined))
      expect(JSON.parse(request?.body ?? '')).toMatchObject({ writeKey })
      const [, credentials = ''] = (request?.headers.find(([name]) => name === 'authorization')?.[1] ?? '').split(' ')
      expect(Buffer.from(credentials, 'base64').toString()).toBe(`${writeKey}:`)
    },
  )
})

describe('the response', () => {
  it('can reject single messages of an accepted batch', async () => {
    const body = JSON.stringify({
      success: true,
      rejected: [{ index: 1, messageId: 'm2', code: 'too_deep', message: 'x' }],
    })
    const { send } = await against(answering(answer(200, {}, body)))
    expect(await send()).toEqual({ kind: 'taken', rejected: [{ index: 1, code: 'too_deep', detail: 'x' }] })
  })

  it('can have Retry-After', async () => {
    const { send } = await against(answering(answer(429, { 'Retry-After': '9' })))
    expect(await send()).toMatchObject({ kind: 'retry', retryAfterMs: 9_000, trouble: { code: 'http_429' } })
  })

  it('of a redirect is final and not followed', async () => {
    const elsewhere = closing(await startScriptedServer(answering(ok)))
    const { send } = await against(answering(answer(307, { Location: elsewhere.url() })))
    expect(await send()).toMatchObject({ kind: 'refused', trouble: { code: 'http_307' } })
    expect(elsewhere.requests).toEqual([])
  })

  it('counts even when the connection breaks in the body', async () => {
    const { send } = await against(
      afterRequest(peer => {
        peer.send('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"succ')
        peer.end()
      }),
    )
    expect(await send()).toEqual({ kind: 'taken', rejected: [] })
  })

  it('is read only up to a limit', async () => {
    const { send } = await against(
      flood('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', `400\r\n${'x'.repeat(1_024)}\r\n`)(() => {}),
    )
    expect(await send()).toEqual({ kind: 'taken', rejected: [] })
  })
})

describe('no response', () => {
  it('connection refused', async () => {
    const { receiver, send } = await against(answering(ok))
    await receiver.close()
    expect(await send()).toMatchObject({
      kind: 'retry',
      trouble: { code: 'ECONNREFUSED', detail: expect.stringContaining('The request failed') },
    })
  })

  it.each<[string, Script]>([
    ['reset', afterRequest(peer => peer.reset())],
    ['closed', afterRequest(peer => peer.end())],
    ['not HTTP', afterRequest(peer => peer.send('SSH-2.0-OpenSSH_9.6\r\n\r\n'))],
    [
      '101 Switching Protocols',
      afterRequest(peer => peer.send('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')),
    ],
  ])('%s', async (_, script) => {
    const { send } = await against(script)
    expect(await send()).toMatchObject({
      kind: 'retry',
      retryAfterMs: undefined,
      trouble: { code: expect.any(String) },
    })
  })

  it('no response within the time limit', async () => {
    const { send } = await against(
      afterRequest(() => {}),
      { timeoutMs: 50 },
    )
    const trouble = { code: 'timeout', detail: 'The request failed: no response within 50 ms.' }
    expect(await send()).toEqual({ kind: 'retry', trouble, retryAfterMs: undefined })
  })

  it('an untrusted certificate: no request is sent', async () => {
    const receiver = closing(await startScriptedServer(answering(ok), selfSigned()))
    const options = { url: receiver.url('/v1/batch'), writeKey: 'key', timeoutMs: 10_000, now: () => sentAt }
    const sending = createHttpTransport(options).send(batch, 0, new AbortController().signal)
    expect(await sending).toMatchObject({ kind: 'retry', trouble: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } })
    expect(receiver.requests).toEqual([])
  })

  it('an aborted signal closes the connection', async () => {
    const abort = new AbortController()
    let dropped: Promise<void> | undefined
    const { send } = await against(
      afterRequest(peer => {
        dropped = peer.closed
        abort.abort()
      }),
    )
    expect(await send(0, abort.signal)).toMatchObject({ kind: 'retry' })
    await dropped
  })
})
