import { describe, expect, it } from '@jest/globals'
import { classify } from '../../../src/core/delivery/outcome.ts'
import type { JsonText } from '../../../src/core/units.ts'
import { afterRequest, answer, answering, flood } from '../../support/scripted-receiver.ts'
import { adapters, answered, body, caller, headers, receiver } from './adapters.ts'

describe.each(adapters)('%s: the request', (_, create) => {
  it('carries the headers given, as written, and those of the connection; the body byte for byte', async () => {
    const target = await receiver(answering(answer(204)))
    const { post } = caller(create)
    await post(target.url('/hook/%C3%BC?token=a%20b&x=1'), { 'X-Signature': 'abc', authorization: 'Bearer ÿ' })

    const [request] = target.requests
    expect(request).toMatchObject({ method: 'POST', path: '/hook/%C3%BC?token=a%20b&x=1', body })
    // RFC 9110 5.1: a name means the same in any case. What was given keeps its own; the connection's are the client's to write.
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
          'content-length': String(Buffer.byteLength(body)),
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

describe.each(adapters)('%s: an answer', (_, create) => {
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

  it('of several Retry-After the first counts', async () => {
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
      '100 and 103 before the answer',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n${answer(200)}`,
      200,
    ],
    ['103 before 100', `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${answer(200)}`, 200],
    ['32 interim answers', `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(32)}${answer(200)}`, 200],
    ['a long interim answer', `HTTP/1.1 103 Early Hints\r\nLink: ${'a'.repeat(15_000)}\r\n\r\n${answer(200)}`, 200],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nuntil the end', 200],
    ['no reason phrase', 'HTTP/1.1 202\r\nContent-Length: 0\r\n\r\n', 202],
    ['a final 101', 'HTTP/1.1 101 Switching\r\n\r\n', 101],
    ['a 101 that switches', 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\nhello', 101],
    ['rubbish after the answer', `${answer(200)}rubbish`, 200],
    ['a second answer after the first', `${answer(200)}${answer(500)}`, 200],
    ['broken chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n', 200],
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

describe.each(adapters)('%s: an answer in pieces', (_, create) => {
  it.each([
    ['alone', answer(200)],
    ['after interim ones', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n${answer(200)}`],
  ])('comes byte by byte: %s', async (_name, text) => {
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

describe.each(adapters)('%s: an answer that costs the connection', (_, create) => {
  it('101, when it switches to another protocol', async () => {
    const closed = Promise.withResolvers<void>()
    const target = await receiver(
      afterRequest(async peer => {
        peer.send('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\nhello')
        await peer.closed
        closed.resolve()
      }),
    )
    expect(await caller(create).post(target.url())).toEqual(answered(101))
    await closed.promise
  })

  it('one that comes before the request has been read', async () => {
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
    // More than the kernel takes on for a reader that does not read.
    const large = `"${'a'.repeat(32 * 1_024 * 1_024)}"` as JsonText
    const call = new Promise(resolve => transport.post({ url: target.url(), headers, body: large }, resolve))
    expect(await call).toEqual(answered(413))
    await closed.promise
    expect(target.bytes()).toBeLessThan(large.length)
  })
})

const head = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n'

describe.each(adapters)('%s: no answer', (_, create) => {
  it.each([
    ['an SSH banner', 'SSH-2.0-OpenSSH_9.6\r\n', 'bad_response'],
    ['bytes', Buffer.from([0x16, 0x03, 0x01, 0x00, 0xff, 0x00]), 'bad_response'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'bad_response'],
    ['a head over 16 KiB', `${head}X-Flood: ${'a'.repeat(17_000)}\r\n\r\n`, 'bad_response'],
    ['a head of many lines over 16 KiB', `${head}${'X-Flood: aaaaaaaaaa\r\n'.repeat(1_000)}\r\n`, 'bad_response'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 'bad_response'],
    ['33 interim answers', `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(33)}${answer(200)}`, 'bad_response'],
    [
      'an interim answer over 16 KiB',
      `HTTP/1.1 103 Early Hints\r\nLink: ${'a'.repeat(17_000)}\r\n\r\n`,
      'bad_response',
    ],
    ['half an interim head, then the end', 'HTTP/1.1 103 Early', 'reset'],
    ['half a head, then the end', 'HTTP/1.1 200 OK\r\nContent-Le', 'reset'],
    ['half a status line, then the end', 'HTTP/1.', 'reset'],
    ['the end at once', '', 'reset'],
  ])('%s', async (_name, bytes, outcome) => {
    const target = await receiver(
      afterRequest(peer => {
        peer.send(bytes)
        peer.end()
      }),
    )
    const { post, ends } = caller(create)
    const result = await post(target.url('/hook?token=hush'), { Authorization: 'Bearer hush' })
    expect(result).toMatchObject({ kind: 'failed', phase: 'exchange' })
    expect(classify(result)).toBe(outcome)
    expect(JSON.stringify(result)).not.toContain('hush')
    expect(ends).toEqual([[result]])
    expect(target.requests).toHaveLength(1)
  })

  it.each([
    ['reason phrase', flood('HTTP/1.1 200 ', 'a'.repeat(16 * 1_024))],
    ['header', flood(`${head}X-Flood: `, 'a'.repeat(16 * 1_024))],
    ['row of interim answers', flood('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500))],
  ])('a %s without end is cut off, and little of it is taken', async (_name, script) => {
    const sent = Promise.withResolvers<number>()
    const target = await receiver(script(sent.resolve))
    const { post, ends } = caller(create)
    const result = await post(target.url())
    expect(result).toMatchObject({ kind: 'failed', phase: 'exchange', code: 'HPE_HEADER_OVERFLOW' })
    expect(classify(result)).toBe('bad_response')
    // What the kernel holds for both sides comes on top of what was read.
    expect(await sent.promise).toBeLessThan(16 * 1_024 * 1_024)
    expect(ends).toEqual([[result]])
  })

  it('a head of just under 16 KiB is an answer', async () => {
    const target = await receiver(answering(`${head}X-Flood: ${'a'.repeat(16_000)}\r\n\r\n`))
    expect(await caller(create).post(target.url())).toEqual(answered(200))
  })

  it.each([
    ['before the head', ''],
    ['within the head', 'HTTP/1.1 200 OK\r\nContent-Le'],
  ])('a reset %s on a new connection is not repeated', async (_name, bytes) => {
    const target = await receiver(
      afterRequest(async peer => {
        if (bytes !== '') await new Promise(resolve => peer.socket.write(bytes, resolve))
        peer.reset()
      }),
    )
    const result = await caller(create).post(target.url())
    expect(result).toMatchObject({ kind: 'failed', phase: 'exchange', code: 'ECONNRESET' })
    expect(target.connections()).toBe(1)
  })

  it('a refused connection', async () => {
    const target = await receiver(answering(answer(200)))
    await target.close()
    expect(await caller(create).post(target.url())).toEqual({
      kind: 'failed',
      phase: 'connect',
      code: 'ECONNREFUSED',
      detail: `connect ECONNREFUSED 127.0.0.1:${target.port}`,
    })
  })

  it('what is no URL or header fails without a connection, as a fault of our own', async () => {
    const { post } = caller(create)
    expect(classify(await post('no url'))).toBe('internal')
    expect(classify(await post('http://127.0.0.1:9/', { 'a\nb': 'c' }))).toBe('internal')
  })
})
