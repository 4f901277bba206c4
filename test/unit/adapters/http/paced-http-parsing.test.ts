import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { createNodeServer } from '../../../../src/adapters/http/node-server-with-limits.ts'
import { endOfPiece } from '../../../../src/adapters/http/paced-http-parsing.ts'
import { defaultLimits } from '../../../../src/adapters/http/server-limits.ts'
import { connect, type Wire } from '../../../support/network/raw-http-client.ts'

const head = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'
const body = 'x'.repeat(60_000)
const chunk = '1\r\nx\r\n'

describe('the first piece', () => {
  it.each([
    ['one request', head + body, head.length + body.length],
    ['a part of a head', head.slice(0, 20), 20],
    ['a head with many lines', `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(200)}\r\n`, 1_218],
    ['two requests', head + head, head.length],
    ['a head, and a body in many chunks', head + chunk.repeat(1_000), head.length],
    ['a head, and a body in few chunks', head + chunk.repeat(30), head.length + 30 * chunk.length],
    ['empty lines', '\r\n'.repeat(1_000), 4],
    ['nothing', '', 0],
  ])('of %s', (_, data, end) => {
    expect(endOfPiece(Buffer.from(data), false)).toBe(end)
  })

  it.each([
    ['a body', body, body.length],
    ['a body with few lines', 'x\r\n'.repeat(63), 189],
    ['the end of a body, and a request', body + head, body.length + head.length],
    ['the end of a body, and two requests', body + head + head, body.length + head.length],
    ['a body in many chunks', chunk.repeat(1_000), 32 * chunk.length],
    ['a body in many chunks, and a request', `${chunk.repeat(1_000)}0\r\n\r\n${head}`, 32 * chunk.length],
    ['the end of a chunked body, and a request', `0\r\n\r\n${head}`, 5],
  ])('in a body: of %s', (_, data, end) => {
    expect(endOfPiece(Buffer.from(data), true)).toBe(end)
  })
})

describe('a server', () => {
  const open: (Wire | Server)[] = []
  afterEach(async () => {
    for (const each of open.splice(0))
      if ('reset' in each) each.reset()
      else await once(each.close(), 'close')
  })

  async function serve(handler: RequestListener): Promise<string> {
    const server = createNodeServer(handler, defaultLimits)
    open.push(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  async function connected(url: string): Promise<Wire> {
    const wire = await connect(url)
    open.push(wire)
    return wire
  }

  /**
   * Counts calls of `count`. `most` returns the largest number in one iteration of the event loop.
   */
  function countPerTurn() {
    let inTurn = 0
    let most = 0
    return {
      count(): void {
        if (inTurn === 0) setImmediate(() => (inTurn = 0))
        inTurn += 1
        most = Math.max(most, inTurn)
      },
      most: () => most,
    }
  }

  it('parses few of the pipelined requests of a connection in one turn of the event loop', async () => {
    const requests = countPerTurn()
    const url = await serve((_, response) => {
      requests.count()
      response.end()
    })
    const wires = await Promise.all(Array.from({ length: 10 }, () => connected(url)))
    const sent = 2_000
    await Promise.all(wires.map(wire => wire.send(head.repeat(sent))))
    for (const wire of wires)
      for (let count = 0; count < sent; count += 1) expect((await wire.answer('GET')).status).toBe(200)
    expect(requests.most()).toBeLessThanOrEqual(10 * 16)
  })

  it('parses few of the chunks of a body in one turn of the event loop', async () => {
    const chunks = countPerTurn()
    let received = 0
    const url = await serve((request: IncomingMessage, response) => {
      request.on('data', (piece: Buffer) => {
        chunks.count()
        received += piece.length
      })
      request.on('end', () => response.end())
    })
    const wire = await connected(url)
    await wire.send(`POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(20_000)}0\r\n\r\n`)
    expect((await wire.answer('POST')).status).toBe(200)
    expect(received).toBe(20_000)
    expect(chunks.most()).toBeLessThanOrEqual(16 * 32)
  })

  it('answers a request of another connection while pipelined requests wait', async () => {
    let answered = 0
    const url = await serve((_, response) => {
      answered += 1
      response.end()
    })
    const crowd = await connected(url)
    await crowd.send(head.repeat(20_000))
    const other = await connected(url)
    await other.send(head)
    expect((await other.answer('GET')).status).toBe(200)
    expect(answered).toBeLessThan(20_000)
  })

  it('keeps the order of the bytes while the client reads nothing, and then answers all requests', async () => {
    const paths: string[] = []
    const url = await serve((request, response) => {
      paths.push(request.url ?? '')
      response.end('x'.repeat(100_000))
    })
    const wire = await connected(url)
    const sent = Array.from({ length: 300 }, (_, index) => `/${index}`)
    await wire.send(sent.map(path => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`).join(''))
    for (const _ of sent) expect((await wire.answer('GET')).body).toHaveLength(100_000)
    expect(paths).toEqual(sent)
  })

  it('does not parse what follows CONNECT', async () => {
    const url = await serve((_, response) => void response.end())
    const wire = await connected(url)
    await wire.send(`CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n${head.repeat(1_000)}`)
    await wire.closed
    const next = await connected(url)
    await next.send(head)
    expect((await next.answer('GET')).status).toBe(200)
  })
})
