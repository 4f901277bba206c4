import { describe, expect, it } from '@jest/globals'
import { ManualClock } from '../../support/manual-clock.ts'
import { afterRequest, answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import { adapters, answered, body, caller, headers, receiver, soon } from './tested-transports-and-servers.ts'

describe.each(adapters)('%s: the request', (_, create) => {
  it('has the given headers unchanged, those of the connection, and the exact body', async () => {
    const target = await receiver(answering(answer(204)))
    const { post } = caller(create)
    await post(target.url('/hook/%C3%BC?token=a%20b&x=1'), { 'X-Signature': 'abc', authorization: 'Bearer ÿ' })

    const [request] = target.requests
    expect(request).toMatchObject({ method: 'POST', path: '/hook/%C3%BC?token=a%20b&x=1', body: body.toString() })
    // Header names that the HTTP client adds may have any case. The names of the caller must keep
    // their case.
    const ofTheConnection = new Set(['host', 'content-length', 'connection'])
    const written = (request?.headers ?? []).map(([name, value]) => {
      const lower = name.toLowerCase()
      return [ofTheConnection.has(lower) ? lower : name, value] as const
    })
    expect(new Map(written)).toEqual(
      new Map(
        Object.entries({
          ...headers,
          'X-Signature': 'abc',
          authorization: 'Bearer ÿ',
          host: `127.0.0.1:${target.port}`,
          'content-length': String(body.length),
          connection: 'keep-alive',
        }),
      ),
    )
    expect(request?.headers).toHaveLength(7)
  })

  it('adds no header of its own when none is given', async () => {
    const target = await receiver(answering(answer(204)))
    const { transport } = caller(create)
    await new Promise(resolve => transport.post({ url: target.url(), headers: {}, body }, resolve))
    expect(target.requests[0]?.headers.map(([name]) => name.toLowerCase()).sort()).toEqual([
      'connection',
      'content-length',
      'host',
    ])
  })
})

const statuses = [200, 201, 204, 299, 300, 301, 304, 400, 401, 404, 408, 410, 429, 451, 500, 503, 599, 600, 999]

describe.each(adapters)('%s: a response', (_, create) => {
  it.each(statuses)('status %i is passed on', async status => {
    const target = await receiver(answering(answer(status)))
    expect(await caller(create).post(target.url())).toEqual(answered(status))
  })

  it.each([
    ['seconds', '120'],
    ['a date', 'Wed, 21 Oct 2026 07:28:00 GMT'],
    ['nonsense', 'soon'],
  ])('Retry-After is passed on as it is: %s', async (_form, value) => {
    const target = await receiver(answering(answer(503, { 'retry-after': value })))
    expect(await caller(create).post(target.url())).toEqual(answered(503, value))
  })

  it('the first of several Retry-After headers is used', async () => {
    const target = await receiver(
      answering('HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nretry-after: 9\r\nContent-Length: 0\r\n\r\n'),
    )
    expect(await caller(create).post(target.url())).toEqual(answered(503, '7'))
  })

  it.each([301, 302, 303, 307, 308])('a redirect %i is not followed', async status => {
    const elsewhere = await receiver(answering(answer(200)))
    const target = await receiver(answering(answer(status, { Location: elsewhere.url() })))
    expect(await caller(create).post(target.url())).toEqual(answered(status))
    expect(elsewhere.connections()).toBe(0)
  })

  it.each([
    [
      '100 and 103 before the response',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n${answer(200)}`,
      200,
    ],
    ['103 before 100', `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${answer(200)}`, 200],
    ['32 interim responses', `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(32)}${answer(200)}`, 200],
    ['a long interim response', `HTTP/1.1 103 Early Hints\r\nLink: ${'a'.repeat(15_000)}\r\n\r\n${answer(200)}`, 200],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nuntil the end', 200],
    ['no reason phrase', 'HTTP/1.1 202\r\nContent-Length: 0\r\n\r\n', 202],
    ['a final 101', 'HTTP/1.1 101 Switching\r\n\r\n', 101],
    ['a 101 that switches', 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\nhello', 101],
    ['invalid data after the response', `${answer(200)}rubbish`, 200],
    ['a second response after the first', `${answer(200)}${answer(500)}`, 200],
    ['malformed chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n', 200],
  ])('%s', async (_name, text, status) => {
    const target = await receiver(
      afterRequest(peer => {
        peer.send(text)
        peer.end()
      }),
    )
    const { post, ends } = caller(create)
    expect(await post(target.url())).toEqual(answered(status))
    expect(ends).toEqual([[answered(status)]])
  })
})

describe.each(adapters)('%s: a response in several packets', (_, create) => {
  it.each([
    ['alone', answer(200)],
    ['after interim ones', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n${answer(200)}`],
  ])('is read byte by byte: %s', async (_name, text) => {
    const target = await receiver(async peer => {
      while ((await peer.request()) !== undefined) {
        for (const byte of text) await new Promise(resolve => peer.socket.write(byte, resolve))
      }
    })
    const { post } = caller(create)
    expect(await post(target.url())).toEqual(answered(200))
    expect(await post(target.url())).toEqual(answered(200))
    expect(target.connections()).toBe(1)
  })
})

describe.each(adapters)('%s: a response that closes the connection', (_, create) => {
  it.each([
    ['to another protocol', 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\nhello'],
    ['without naming a protocol', 'HTTP/1.1 101 Switching\r\n\r\n'],
  ])('101, when it switches %s', async (_name, text) => {
    const closed = Promise.withResolvers<void>()
    const target = await receiver(
      afterRequest(async peer => {
        peer.send(text)
        await peer.closed
        closed.resolve()
      }),
    )
    // With a manual clock, the deadline cannot close the connection.
    expect(await caller(create, { clock: new ManualClock() }).post(target.url())).toEqual(answered(101))
    await soon(closed.promise)
  })

  it('a response that arrives before the request was read', async () => {
    const closed = Promise.withResolvers<void>()
    const target = await receiver(async peer => {
      peer.socket.pause()
      peer.send(answer(413))
      await call
      peer.socket.resume()
      await peer.closed
      closed.resolve()
    })
    const { transport } = caller(create)
    // More data than the kernel buffers for a peer that does not read.
    const large = Buffer.alloc(32 * 1_024 * 1_024, 'a')
    const call = new Promise(resolve => transport.post({ url: target.url(), headers, body: large }, resolve))
    expect(await call).toEqual(answered(413))
    await soon(closed.promise)
    expect(target.bytes()).toBeLessThan(large.length)
  })
})
