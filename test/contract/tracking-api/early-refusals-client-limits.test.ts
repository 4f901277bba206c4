import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { LogProducer } from '../../../src/core/ports.ts'
import { durationMs } from '../../../src/core/time.ts'
import { RecordingCollector } from '../../support/collector/collector-with-recording-producer.ts'
import { problem, raw, rawCases, startCollector, taken } from '../../support/collector/raw-request-harness.ts'
import { rateLimited, ScriptedTrackingApi } from '../../support/collector/scripted-tracking-api.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { chunk, chunked, type Fields, post, request } from '../../support/network/http-request-bytes.ts'
import { connect, type Wire } from '../../support/network/raw-http-client.ts'

const mebibyte = 1_048_576
const key: Fields = { 'X-Write-Key': 'KEY' }
const limited = (_: unknown, api: ScriptedTrackingApi): void => {
  api.admission = () => rateLimited
}
const refusedEarly = problem(429, 'rate_limited', { close: true })

describe('a client that may not send is refused before its body is read', () => {
  const announced = { 'Content-Length': '1000000' }
  rawCases(
    [
      raw('key in a header', [limited, request('POST /v1/batch', { ...key, ...announced })], refusedEarly, {
        reached: [],
      }),
      raw('key in the query', [limited, request('POST /v1/batch?writeKey=KEY', announced)], refusedEarly, {
        reached: [],
      }),
      raw(
        'key in the first 64 KiB of the body',
        [limited, request('POST /v1/batch', announced), `{"writeKey":"KEY","batch":["${'x'.repeat(70_000)}`],
        refusedEarly,
        { reached: [] },
      ),
    ],
    { maxBodyBytes: 4 * mebibyte },
  )
})

describe('the collector refuses before the body is read', () => {
  const incomplete = (fields: Fields, path = '/v1/batch'): Buffer =>
    request(`POST ${path}`, { ...fields, 'Content-Length': '1000000' })

  async function refusalOf(collector: RecordingCollector, sent: readonly Buffer[]): Promise<number> {
    const server = await startCollector(collector)
    const wire = await connect(server.url)
    let status = 0
    for (const each of sent) {
      await wire.send(each)
      ;({ status } = await wire.answer())
    }
    wire.reset()
    await server.stop()
    return status
  }

  it('an unknown key in the headers', async () => {
    const collector = new RecordingCollector({ web: 'KEY' })
    expect(await refusalOf(collector, [incomplete({ 'X-Write-Key': 'OTHER' })])).toBe(401)
    expect(collector.requests).toEqual([])
  })

  it('a request during an outage of Kafka', async () => {
    const producer: LogProducer = {
      append: (_topic, _record, onAck) => queueMicrotask(() => onAck(new Error('no leader'))),
      flush: async () => {},
      stop: async () => {},
    }
    // During an outage, the collector admits one request per second. On this clock, no time passes.
    const collector = new RecordingCollector({ web: 'KEY' }, { producer, clock: new ManualClock() })
    const failing = post('/v1/page', key, '{"userId":"u"}')
    expect(await refusalOf(collector, [failing, incomplete(key)])).toBe(503)
    expect(await refusalOf(collector, [incomplete({}, '/v1/batch?writeKey=KEY')])).toBe(503)
    expect(collector.requests).toHaveLength(1)
  })

  it('but not an unknown key in the query: the body may have a valid one', async () => {
    const collector = new RecordingCollector({ web: 'KEY' })
    const body = '{"writeKey":"KEY","batch":[{"type":"page","userId":"u"}]}'
    expect(await refusalOf(collector, [post('/v1/batch?writeKey=OTHER', {}, body)])).toBe(200)
  })
})

const keyFirst = (bytes: number): string => `{"writeKey":"KEY","batch":["${'x'.repeat(bytes)}"]}`
const keyLast = (bytes: number): string => `{"batch":["${'x'.repeat(bytes)}"],"writeKey":"KEY"}`
const tooLarge = problem(413, 'payload_too_large')
/** A text that gzip can hardly compress. */
const hard = (bytes: number): string =>
  Array.from({ length: bytes / 8 }, (_, index) =>
    ((index * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0'),
  ).join('')

describe('a body whose key is not in the headers', () => {
  const chunkedHead = request('POST /v1/batch', { 'Transfer-Encoding': 'chunked' })
  rawCases(
    [
      raw('key first: the usual maximum size', post('/v1/batch', {}, keyFirst(3 * mebibyte)), taken),
      raw('key first, in chunks', [chunkedHead, chunked(keyFirst(3 * mebibyte))], taken),
      raw(
        'key first, gzip',
        post('/v1/batch', {}, gzipSync(`{"writeKey":"KEY","x":"${hard(1.5 * mebibyte)}"}`)),
        taken,
      ),
      raw('key last, as large as batches of SDKs', post('/v1/batch', {}, keyLast(511_000)), taken),
      raw('key last, in chunks', [chunkedHead, chunked(keyLast(511_000))], taken),
      raw('key last, gzip', post('/v1/batch', {}, gzipSync(keyLast(511_000))), taken),
      raw('key last, over 1 MiB', post('/v1/batch', {}, keyLast(mebibyte)), tooLarge, { reached: [] }),
      raw('key last, over 1 MiB, gzip', post('/v1/batch', {}, gzipSync(`"${hard(1.5 * mebibyte)}"`)), tooLarge),
      raw('key in the header: the usual maximum size', post('/v1/batch', key, keyLast(3 * mebibyte)), taken),
    ],
    { maxBodyBytes: 4 * mebibyte },
  )
})

describe('gzip that unpacks to more than 100 times its size', () => {
  rawCases(
    [
      raw('is refused above 512 KiB', post('/v1/batch', key, gzipSync('x'.repeat(3 * mebibyte))), tooLarge, {
        reached: [],
      }),
      raw('is accepted below', post('/v1/batch', key, gzipSync('x'.repeat(500_000))), taken),
      raw(
        'messages with ids never reach this ratio',
        post('/v1/batch', key, gzipSync(JSON.stringify(alike(2_500)))),
        taken,
      ),
    ],
    { maxBodyBytes: 4 * mebibyte },
  )
})

function alike(count: number): object {
  const properties = { text: 'the same in each message '.repeat(40) }
  return { batch: Array.from({ length: count }, () => ({ type: 'page', messageId: crypto.randomUUID(), properties })) }
}

describe('a body that was received', () => {
  rawCases([
    raw(
      'is refused when its memory is given to another body',
      [
        request('POST /v1/batch', { ...key, 'Transfer-Encoding': 'chunked' }),
        chunk('x'.repeat(1_000)),
        async (_, api) => {
          await api.until(() => api.reserved > 0)
          api.evictAll()
        },
      ],
      problem(503, 'unavailable', { close: true }),
      { reached: [] },
    ),
  ])
})

describe('one client address', () => {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })

  async function started(...[api, options]: Parameters<typeof startCollector>) {
    const collector = await startCollector(api, options)
    ends.push(() => collector.stop())
    return collector
  }

  async function opened(url: string): Promise<Wire> {
    const wire = await connect(url)
    ends.push(() => wire.reset())
    return wire
  }

  it('has a maximum of connections, and may open a new one when another ends', async () => {
    const collector = await started(new RecordingCollector({ web: 'KEY' }), { limits: { connectionsPerAddress: 2 } })
    const open = [await opened(collector.url), await opened(collector.url)]
    const beyond = await opened(collector.url)
    await beyond.closed
    open[0]?.reset()
    await open[0]?.closed
    const wire = await answered(collector.url)
    expect(wire.status).toBe(200)
  })

  it('behind a proxy: has this maximum of requests in progress', async () => {
    const api = new ScriptedTrackingApi()
    const collector = await started(api, {
      clientAddressHeader: 'X-Forwarded-For',
      limits: { connectionsPerAddress: 2 },
    })
    const of = (address: string): Fields => ({ ...key, 'X-Forwarded-For': address })
    const begin = async (address: string): Promise<Wire> => {
      const before = api.reserved
      const begun = await opened(collector.url)
      await begun.send(request('POST /v1/page', { ...of(address), 'Transfer-Encoding': 'chunked' }))
      await begun.send(chunk('{"userId":'))
      await api.until(() => api.reserved > before)
      return begun
    }
    const statusFor = async (address: string): Promise<number> => {
      const asking = await opened(collector.url)
      await asking.send(post('/v1/page', of(address), '{"userId":"u"}'))
      return (await asking.answer()).status
    }
    const first = await begin('203.0.113.1')
    await begin('203.0.113.1')
    expect(await statusFor('203.0.113.1')).toBe(503)
    expect(await statusFor('192.0.2.7')).toBe(200)
    await first.send(chunked('"u"}'))
    expect((await first.answer()).status).toBe(200)
    expect(await statusFor('203.0.113.1')).toBe(200)
  })

  /**
   * Repeats the request until the server responds: it refuses requests while it still counts an
   * earlier connection.
   */
  async function answered(url: string) {
    for (;;) {
      const wire = await connect(url)
      await wire.send(post('/v1/page', key, '{"userId":"u"}'))
      const answer = await wire.answer().catch(() => undefined)
      wire.reset()
      if (answer !== undefined) return answer
    }
  }
})

describe('during an attack with slow bodies', () => {
  const memory = {
    bodies: { authenticated: 4 * mebibyte, keyless: 2 * mebibyte, perAddress: 3 * mebibyte },
    operators: mebibyte,
    records: 64 * mebibyte,
    rejected: mebibyte,
  }
  const collector = new RecordingCollector({ web: 'KEY', app: 'APP' }, { memory })
  let server: Awaited<ReturnType<typeof startCollector>>
  const attackers: Wire[] = []
  beforeAll(async () => {
    server = await startCollector(collector, {
      maxBodyBytes: mebibyte,
      clientAddressHeader: 'X-Forwarded-For',
      limits: { progress: { bytes: 1, within: durationMs(60_000) } },
    })
  })
  afterEach(() => {
    for (const wire of attackers.splice(0)) wire.reset()
  })
  afterAll(() => server.stop())

  async function attack(fields: Fields): Promise<void> {
    for (let index = 0; index < 8; index += 1) {
      const wire = await connect(server.url)
      attackers.push(wire)
      await wire.send(request('POST /v1/batch', { 'Transfer-Encoding': 'chunked', ...fields }))
      await wire.send(chunk('x'.repeat(mebibyte / 2 + 1)))
    }
  }

  it.each<[string, Fields, Fields, string]>([
    ['without a key, honest sources are not affected', {}, key, ''],
    ['with a key, other sources keep their share', { 'X-Write-Key': 'APP' }, key, ''],
    ['without a key, honest bodies with the key in them get memory', {}, {}, ',"writeKey":"KEY"'],
  ])('%s: all honest requests are answered 200', async (_, attacking, honest, member) => {
    await attack({ ...attacking, 'X-Forwarded-For': '203.0.113.1' })
    const wire = await connect(server.url)
    const statuses = new Map<number, number>()
    const fields = { ...honest, 'X-Forwarded-For': '192.0.2.7' }
    for (let sent = 0; sent < 200; sent += 1) {
      await wire.send(post('/v1/batch', fields, `{"batch":[{"type":"page","userId":"u"}]${member}}`))
      const { status } = await wire.answer()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    wire.reset()
    expect([...statuses]).toEqual([[200, 200]])
  })

  it('from many addresses, without a key: large honest bodies with the key at their end get memory', async () => {
    const message = { type: 'page', userId: 'u', properties: { text: 'x'.repeat(20_000) } }
    const body = JSON.stringify({ batch: Array.from({ length: 10 }, () => message), writeKey: 'KEY' })
    let addresses = 0
    async function hold(count: number): Promise<void> {
      for (let index = 0; index < count; index += 1) {
        const wire = await connect(server.url)
        attackers.push(wire)
        const address = `10.0.0.${++addresses}`
        await wire.send(request('POST /v1/batch', { 'Content-Length': '1000000', 'X-Forwarded-For': address }))
        await wire.send(`{"batch":[${' '.repeat(16_000)}`)
      }
    }
    await hold(150)
    const statuses: number[] = []
    for (let sent = 0; sent < 5; sent += 1) {
      const wire = await connect(server.url)
      await wire.send(post('/v1/batch', { 'X-Forwarded-For': '192.0.2.7' }, body))
      statuses.push((await wire.answer()).status)
      wire.reset()
      await hold(20)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200])
  })
})
