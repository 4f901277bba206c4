import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { afterRequest, answer, answering, flood, type Peer } from '../../support/webhook/scripted-tcp-server.ts'
import { adapters, answered, caller, receiver, soon } from './tested-transports-and-servers.ts'

const kib = 1_024
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`

describe.each(adapters)('%s: the body of a response', (_, create) => {
  it.each([
    ['none', answer(200)],
    ['64 KiB', answer(200, {}, 'a'.repeat(64 * kib))],
    ['64 KiB in chunks', `${chunked}${chunk(32 * kib)}${chunk(32 * kib)}0\r\n\r\n`],
    ['with trailers', `${chunked}${chunk(10)}0\r\nX-Sum: 1\r\n\r\n`],
  ])('is read, and the connection is reused: %s', async (_name, text) => {
    const target = await receiver(answering(text))
    const { post } = caller(create)
    for (let call = 0; call < 3; call++) expect(await post(target.url())).toEqual(answered(200))
    expect(target.connections()).toBe(1)
  })

  it.each([
    ['with a larger Content-Length', answer(200, {}, 'a'.repeat(64 * kib + 1))],
    ['longer in chunks', `${chunked}${chunk(64 * kib)}${chunk(1)}0\r\n\r\n`],
    ['until the end of the connection', 'HTTP/1.1 200 OK\r\n\r\na'],
  ])('closes the connection when it is over 64 KiB or endless: %s', async (_name, text) => {
    const target = await receiver(
      afterRequest((peer: Peer) => {
        peer.send(text)
        if (!text.includes('Length') && !text.includes('chunked')) peer.end()
      }),
    )
    const { post } = caller(create)
    expect(await post(target.url())).toEqual(answered(200))
    expect(await post(target.url())).toEqual(answered(200))
    expect(target.connections()).toBe(2)
  })

  it('is not read when Content-Length is huge', async () => {
    const closed = Promise.withResolvers<void>()
    const target = await receiver(
      afterRequest(async peer => {
        peer.send('HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n')
        await peer.closed
        closed.resolve()
      }),
    )
    expect(await caller(create).post(target.url())).toEqual(answered(200))
    await soon(closed.promise)
  })

  it.each([
    ['to the end of the connection', flood('HTTP/1.1 200 OK\r\n\r\n', 'a'.repeat(16 * kib))],
    ['in chunks', flood(chunked, chunk(16 * kib))],
    ['in chunks of one byte', flood(chunked, chunk(1).repeat(1_000))],
    ['in the extension of a chunk', flood(`${chunked}1;x=`, 'a'.repeat(16 * kib))],
    ['in the size of a chunk', flood(chunked, '0'.repeat(16 * kib))],
    ['in a trailer', flood(`${chunked}${chunk(1)}0\r\nX-Flood: `, 'a'.repeat(16 * kib))],
  ])('is cut off early when it is endless: %s', async (_name, script) => {
    const sent = Promise.withResolvers<number>()
    const target = await receiver(script(sent.resolve))
    const { post, ends } = caller(create)
    expect(await post(target.url())).toEqual(answered(200))
    // The bound is high, because the server also counts bytes in kernel buffers.
    expect(await sent.promise).toBeLessThan(16 * kib * kib)
    expect(ends).toEqual([[answered(200)]])
  })

  it('is not unpacked when it is compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * kib * kib))
    expect(bomb.length).toBeLessThan(64 * kib)
    const target = await receiver(async peer => {
      while ((await peer.request()) !== undefined) {
        peer.send(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
        peer.send(bomb)
      }
    })
    const { post } = caller(create)
    await post(target.url())
    const before = process.memoryUsage()
    for (let call = 0; call < 5; call++) expect(await post(target.url())).toEqual(answered(200))
    const after = process.memoryUsage()
    // The connection is kept, because the transport has read all 32 KiB of each body. Unpacked, the
    // five bodies have 160 MiB.
    expect(target.connections()).toBe(1)
    expect(after.rss - before.rss).toBeLessThan(32 * kib * kib)
  })

  it('is limited by its compressed size', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * kib * kib))
    const half = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const target = await receiver(async peer => {
      await peer.request()
      peer.send(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
      peer.socket.write(bomb.subarray(0, bomb.length / 2), () => half.resolve())
      await go.promise
      peer.send(bomb.subarray(bomb.length / 2))
      await answering(answer(202))(peer)
    })
    const other = await receiver(answering(answer(204)))
    const { post, ends } = caller(create)
    const call = post(target.url())
    await half.promise
    for (let fence = 0; fence < 5; fence++) await post(other.url())
    // The transport has read half of the body. Unpacked, this half has 16 MiB.
    expect(ends[0]).toEqual([])
    go.resolve()
    expect(await call).toEqual(answered(200))
    expect(await post(target.url())).toEqual(answered(202))
    expect(target.connections()).toBe(1)
  })

  it('makes no difference when its Content-Encoding is wrong', async () => {
    const target = await receiver(answering(answer(200, { 'Content-Encoding': 'br' }, 'not brotli')))
    expect(await caller(create).post(target.url())).toEqual(answered(200))
  })

  it.each([
    ['reset', (peer: Peer) => peer.reset()],
    ['ended early', (peer: Peer) => peer.end()],
  ])('makes no difference when it is %s', async (_name, finish) => {
    const target = await receiver(
      afterRequest(async peer => {
        await new Promise(resolve =>
          peer.socket.write('HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\nabc', resolve),
        )
        finish(peer)
      }),
    )
    const { post, ends } = caller(create)
    expect(await post(target.url())).toEqual(answered(201))
    expect(ends).toEqual([[answered(201)]])
  })
})
