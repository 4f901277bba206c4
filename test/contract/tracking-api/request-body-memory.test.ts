import { once } from 'node:events'
import net from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { durationMs } from '../../../src/core/time.ts'
import {
  expectAnswer,
  expectHealthy,
  problem,
  raw,
  rawCases,
  startCollector,
  taken,
} from '../../support/collector/raw-request-harness.ts'
import { everythingTaken, ScriptedTrackingApi } from '../../support/collector/scripted-tracking-api.ts'
import { chunk, chunked, post, request } from '../../support/network/http-request-bytes.ts'
import { connect } from '../../support/network/raw-http-client.ts'

const limit = 1_048_576
const chunkedHead = request('POST /v1/batch', { 'Transfer-Encoding': 'chunked' })
const budget = (bytes: number) => (_: unknown, api: ScriptedTrackingApi) => {
  api.budget = bytes
}
const busy = problem(503, 'unavailable')
const busyAndClosed = problem(503, 'unavailable', { close: true })
const body = (bytes: number): string => 'x'.repeat(bytes)

describe('refuses a request before more is read when no memory is available', () => {
  rawCases(
    [
      raw('none', [budget(0), post('/v1/batch', {}, body(100))], busy, { reached: [] }),
      raw('exactly enough', [budget(100), post('/v1/batch', {}, body(100))], taken),
      raw('one byte short', [budget(99), post('/v1/batch', {}, body(100))], busy, { reached: [] }),
      raw('an empty body needs none', [budget(0), post('/v1/batch', {}, '')], taken),
      raw('enough for a part of the body', [budget(100_000), post('/v1/batch', {}, body(500_000))], busyAndClosed, {
        reached: [],
      }),
      raw('in chunks', [budget(100_000), chunkedHead, chunked(body(90_000), body(90_000))], busyAndClosed, {
        reached: [],
      }),
      raw(
        'for the content of gzip',
        [budget(50_000), post('/v1/batch', {}, gzipSync(body(500_000)))],
        problem(503, 'unavailable'),
        { reached: [] },
      ),
      raw('a request without a body is not refused', [budget(0), request('GET /openapi.json')], { status: 200 }),
      raw(
        'a body that is too large gets 413 instead',
        [budget(0), request('POST /v1/batch', { 'Content-Length': '2000000' })],
        problem(413, 'payload_too_large', { close: true }),
      ),
    ],
    { maxBodyBytes: limit },
  )
})

describe('answers 413 to a body that can never get its memory', () => {
  const alone = (bytes: number) => (_: unknown, api: ScriptedTrackingApi) => {
    api.budget = bytes
    api.maxPerRequest = bytes
  }
  const never = problem(413, 'payload_too_large')
  const neverAndClosed = problem(413, 'payload_too_large', { close: true })
  rawCases(
    [
      raw('in one chunk', [alone(99), post('/v1/batch', {}, body(100))], never, { reached: [] }),
      raw('in chunks', [alone(100_000), chunkedHead, chunked(body(90_000), body(90_000))], neverAndClosed, {
        reached: [],
      }),
      raw('for the content of gzip', [alone(50_000), post('/v1/batch', {}, gzipSync(body(500_000)))], never, {
        reached: [],
      }),
    ],
    { maxBodyBytes: limit },
  )
})

describe('reserved memory', () => {
  const api = new ScriptedTrackingApi()
  let collector: Awaited<ReturnType<typeof startCollector>>
  beforeAll(async () => {
    collector = await startCollector(api, { maxBodyBytes: limit })
  })
  afterAll(() => collector.stop())
  afterEach(() => expectHealthy(collector.url, api))

  it.each<[string, Buffer | Buffer[], number, number]>([
    ['a body in one chunk: its size', post('/v1/batch', {}, body(1_000)), 1_000, 1_000],
    ['a large body: at most its size', post('/v1/batch', {}, body(900_000)), 900_000, 900_000],
    ['a small body in chunks', [chunkedHead, chunked(body(1_000))], 1_000, 16_384],
    [
      'a large body in chunks: at most a quarter more, or the limit',
      [chunkedHead, chunked(...Array.from({ length: 90 }, () => body(10_000)))],
      900_000,
      limit,
    ],
    ['gzip: packed and unpacked', post('/v1/batch', {}, gzipSync(body(500_000))), 500_000, 640_000],
    [
      'a gzip bomb: at most the limit and the packed bytes',
      post('/v1/batch', {}, gzipSync(Buffer.alloc(32 * limit))),
      100_000,
      limit + 100_000,
    ],
    ['one chunk per byte', [chunkedHead, chunked(...body(5_000))], 5_000, 16_384],
  ])('%s', async (_, bytes, least, most) => {
    const wire = await connect(collector.url)
    for (const each of [bytes].flat()) await wire.send(each)
    await wire.answer()
    expect(api.mostReserved).toBeGreaterThanOrEqual(least)
    expect(api.mostReserved).toBeLessThanOrEqual(most)
    expect(api.reserved).toBe(0)
    wire.reset()
  })

  it('grows with the received bytes, not with the declared Content-Length', async () => {
    const wire = await connect(collector.url)
    await wire.send(request('POST /v1/batch', { 'Content-Length': '1000000', Expect: '100-continue' }))
    await wire.send(body(20_000))
    await api.until(() => api.reserved > 0)
    expect(api.reserved).toBeLessThanOrEqual(65_536)
    wire.reset()
  })

  it('is kept until the API has responded', async () => {
    const answer = Promise.withResolvers<typeof everythingTaken>()
    api.answer(() => answer.promise)
    const wire = await connect(collector.url)
    await wire.send(post('/v1/batch', {}, body(1_000)))
    await api.until(() => api.requests.length === 1)
    expect(api.reserved).toBe(1_000)
    answer.resolve(everythingTaken)
    await wire.answer()
    expect(api.reserved).toBe(0)
    wire.reset()
  })

  it.each<[string, Buffer[]]>([
    ['in a body with a length', [request('POST /v1/batch', { 'Content-Length': '1000' }), Buffer.from(body(500))]],
    ['in a chunk', [chunkedHead, Buffer.from('fff\r\nabc')]],
    ['between chunks', [chunkedHead, chunk(body(40_000))]],
    ['in gzip', [request('POST /v1/batch', { 'Content-Length': '1000' }), gzipSync(body(500)).subarray(0, 15)]],
  ])('is released when the client disconnects %s', async (_, pieces) => {
    const wire = await connect(collector.url)
    for (const piece of pieces) await wire.send(piece)
    await api.until(() => api.reserved > 0)
    wire.reset()
    await api.until(() => api.reserved === 0)
    expect(api.requests).toEqual([])
  })

  it('a body in a million chunks of one byte is refused early', async () => {
    const wire = await connect(collector.url)
    await wire.send(chunkedHead)
    const many = Buffer.from('1\r\nx\r\n'.repeat(70_000))
    await wire.send(many)
    expectAnswer(await wire.answer(), problem(400, 'malformed_request', { close: true }))
    wire.reset()
  })

  it('a hundred concurrent clients', async () => {
    const wires = await Promise.all(Array.from({ length: 100 }, () => connect(collector.url)))
    const answers = wires.map(async (wire, index) => {
      await wire.send(post('/v1/batch', {}, index % 2 === 0 ? body(20_000 + index) : gzipSync(body(20_000 + index))))
      return wire.answer()
    })
    for (const answer of await Promise.all(answers)) expectAnswer(answer, taken)
    expect(new Set(api.requests.map(each => each.body.length))).toEqual(
      new Set(Array.from({ length: 100 }, (_, index) => 20_000 + index)),
    )
    expect(api.reserved).toBe(0)
    for (const wire of wires) wire.reset()
  })
})

describe('a slow client', () => {
  it('releases its memory at the timeout', async () => {
    const api = new ScriptedTrackingApi()
    const collector = await startCollector(api, { limits: { progress: { bytes: 100, within: durationMs(30) } } })
    const wire = await connect(collector.url)
    await wire.send(request('POST /v1/batch', { 'Content-Length': '1000' }))
    await wire.send(body(10))
    expectAnswer(await wire.answer(), problem(408, 'request_timeout', { close: true }))
    expect(api.reserved).toBe(0)
    wire.reset()
    await collector.stop()
  })
})

describe('a long response', () => {
  const api = new ScriptedTrackingApi()
  let collector: Awaited<ReturnType<typeof startCollector>>
  beforeAll(async () => {
    collector = await startCollector(api)
  })
  afterAll(() => collector.stop())
  afterEach(() => expectHealthy(collector.url, api))

  /** Longer than the data that the kernel stores for a client that does not read. */
  const message = 'x'.repeat(16 * limit)
  const rejected = [{ index: 0, messageId: undefined, code: 'missing_id', message }] as const
  const length = JSON.stringify({ success: true, rejected }).length

  /** Sends requests with long responses, and does not read. Resolves when all are answered. */
  async function unread(count: number) {
    api.answer(request => {
      request.reserve(17 * limit)
      return { kind: 'accepted', rejected }
    })
    const { hostname, port } = new URL(collector.url)
    const socket = net.connect({ host: hostname, port: Number(port) }).pause()
    socket.on('error', () => {})
    socket.write(Buffer.concat(Array(count).fill(post('/v1/batch', {}, '[1]'))))
    await api.until(() => api.reserved === count * length)
    return socket
  }

  it('takes memory until the client has read it', async () => {
    const socket = await unread(1)
    const wire = await connect(collector.url)
    api.answer(() => everythingTaken)
    await wire.send(post('/v1/batch'))
    expectAnswer(await wire.answer(), taken)
    wire.reset()
    expect(api.reserved).toBe(length)
    socket.resume()
    await api.until(() => api.reserved === 0)
    socket.destroy()
  })

  it.each([1, 2])('takes no memory when the client closes the connection before it has read %d', async count => {
    const socket = await unread(count)
    socket.resetAndDestroy()
    await api.until(() => api.reserved === 0)
  })

  it('ends with its connection when others need its memory', async () => {
    const socket = await unread(1)
    const closed = once(socket, 'close')
    api.evictAll()
    expect(api.reserved).toBe(0)
    socket.resume()
    await closed
  })

  it('has exactly the bytes of its text', async () => {
    api.answer(() => ({ kind: 'accepted', rejected: [{ ...rejected[0], message: '…'.repeat(20_000) }] }))
    const wire = await connect(collector.url)
    await wire.send(post('/v1/batch', {}, '[1]'))
    const { body: text } = await wire.answer()
    expect(JSON.parse(text).rejected[0].message).toBe('…'.repeat(20_000))
    wire.reset()
  })
})
