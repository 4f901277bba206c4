import { lookup } from 'node:dns/promises'
import { afterEach, describe, expect, it } from '@jest/globals'
import type { TrackingAnswer } from '../../../src/core/collector/tracking-api.ts'
import { durationMs } from '../../../src/core/time.ts'
import {
  expectAnswer,
  problem,
  startCollector,
  taken,
  takenAndClosed,
} from '../../support/collector/raw-request-harness.ts'
import { everythingTaken, ScriptedTrackingApi } from '../../support/collector/scripted-tracking-api.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { post, request } from '../../support/network/http-request-bytes.ts'
import { connect, type Wire } from '../../support/network/raw-http-client.ts'

const open: Wire[] = []
afterEach(() => {
  for (const wire of open.splice(0)) wire.reset()
})
async function connected(url: string): Promise<Wire> {
  const wire = await connect(url)
  open.push(wire)
  return wire
}

const acceptAfterStop = durationMs(1_000)

/** Blocks the whole process for this time, as a busy machine does. */
const standStill = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

function waitingApi() {
  const api = new ScriptedTrackingApi()
  const answer = Promise.withResolvers<TrackingAnswer>()
  api.answer(() => answer.promise)
  return { api, go: () => answer.resolve(everythingTaken) }
}

describe('the limit on connections', () => {
  it('closes connections after a response above half of the limit', async () => {
    const collector = await startCollector(new ScriptedTrackingApi(), { limits: { connections: 4 } })
    const wires: Wire[] = []
    for (let count = 0; count < 4; count += 1) wires.push(await connected(collector.url))
    const [first, second] = wires as [Wire, Wire]

    await first.send(post('/v1/t'))
    expectAnswer(await first.answer(), takenAndClosed)
    await first.closed
    first.reset()
    await second.send(post('/v1/t'))
    expectAnswer(await second.answer(), takenAndClosed)
    await second.closed
    second.reset()

    const third = wires[2] as Wire
    await third.send(post('/v1/t'))
    expectAnswer(await third.answer(), taken)
    await collector.stop()
  })
})

describe('the limit on pipelined requests', () => {
  it('lets further requests wait for a response to an earlier one', async () => {
    const api = new ScriptedTrackingApi()
    const waiting: (() => void)[] = []
    const counts: number[] = []
    api.answer(() => {
      const { promise, resolve } = Promise.withResolvers<TrackingAnswer>()
      waiting.push(() => resolve(everythingTaken))
      counts.push(waiting.length)
      return promise
    })
    const collector = await startCollector(api, { limits: { pipelined: 3 } })
    const wire = await connected(collector.url)
    await wire.send(Buffer.concat(Array.from({ length: 20 }, () => post('/v1/t'))))
    await api.until(() => api.requests.length === 3)
    for (let count = 0; count < 20; count += 1) {
      await api.until(() => waiting.length > 0)
      waiting.shift()?.()
      expectAnswer(await wire.answer(), taken)
    }
    expect(counts).toHaveLength(20)
    // At most three requests may be unanswered (`pipelined`), but the server may have begun
    // another.
    expect(Math.max(...counts)).toBeLessThanOrEqual(4)
    await collector.stop()
  })

  it('reads the body of the last request that it permits', async () => {
    const { api, go } = waitingApi()
    const collector = await startCollector(api, { limits: { pipelined: 2 } })
    const wire = await connected(collector.url)
    const [head, body] = [request('POST /v1/t', { 'Content-Length': '4' }), '"aa"']
    await wire.send(Buffer.concat([post('/v1/t'), Buffer.from(head)]))
    await api.until(() => api.requests.length === 1)
    await wire.send(body)
    await api.until(() => api.requests.length === 2)
    go()
    for (let count = 0; count < 2; count += 1) expectAnswer(await wire.answer(), taken)
    await collector.stop()
  })
})

describe('stop', () => {
  it('answers requests in progress, each as the last one of its connection', async () => {
    const { api, go } = waitingApi()
    const collector = await startCollector(api)
    const wire = await connected(collector.url)
    await wire.send(post('/v1/t'))
    await api.until(() => api.requests.length === 1)
    const stopped = collector.stop()
    go()
    expectAnswer(await wire.answer(), takenAndClosed)
    await wire.closed
    await stopped
  })

  it('reads a body to its end and stores it', async () => {
    const api = new ScriptedTrackingApi()
    const collector = await startCollector(api)
    const wire = await connected(collector.url)
    await wire.send(request('POST /v1/t', { 'Content-Length': '10' }))
    await wire.send('"aaaa')
    await api.until(() => api.reserved > 0)
    const stopped = collector.stop()
    await wire.send('bbbb"')
    expectAnswer(await wire.answer(), takenAndClosed)
    await stopped
    expect(api.requests.map(({ body }) => body)).toEqual(['"aaaabbbb"'])
  })

  it('answers a request that was already sent, as the last one of its connection', async () => {
    const collector = await startCollector(new ScriptedTrackingApi())
    const wire = await connected(collector.url)
    await wire.send(post('/v1/t'))
    expectAnswer(await wire.answer(), taken)
    // The server starts to stop before it has read the request.
    const sent = wire.send(post('/v1/p'))
    const stopped = collector.stop()
    await sent
    expectAnswer(await wire.answer(), takenAndClosed)
    await wire.closed
    await stopped
  })

  it('answers requests whose data still waits to be parsed', async () => {
    const collector = await startCollector(new ScriptedTrackingApi())
    const wires: Wire[] = []
    for (let count = 0; count < 200; count += 1) wires.push(await connected(collector.url))
    const stopped = collector.stop()
    const sent = wires.map(wire => wire.send(Buffer.concat([post('/v1/t'), post('/v1/p')])))
    standStill(20)
    await Promise.all(sent)
    for (const wire of wires) {
      expect((await wire.answer()).status).toBe(200)
      expectAnswer(await wire.answer(), takenAndClosed)
    }
    await stopped
  })

  it('answers requests that arrived while the process was blocked for longer than acceptAfterStop', async () => {
    const collector = await startCollector(new ScriptedTrackingApi())
    const wire = await connected(collector.url)
    await wire.send(post('/v1/t'))
    expectAnswer(await wire.answer(), taken)
    const stopped = collector.stop()
    const sent = wire.send(post('/v1/p'))
    standStill(20)
    await sent
    expectAnswer(await wire.answer(), takenAndClosed)
    await stopped
  })

  it('waits although all connections have closed, because some clients open a connection per request', async () => {
    const clock = new ManualClock()
    const collector = await startCollector(new ScriptedTrackingApi(), { clock, limits: { acceptAfterStop } })
    const [kept, unused] = [await connected(collector.url), await connected(collector.url)]
    await kept.send(post('/v1/t'))
    expectAnswer(await kept.answer(), taken)
    const stopped = collector.stop()
    const late = await connected(collector.url)
    for (const wire of [kept, unused, late]) {
      await wire.send(post('/v1/t'))
      expectAnswer(await wire.answer(), takenAndClosed)
      await wire.closed
    }
    const last = await connected(collector.url)
    await last.send(post('/v1/t'))
    expectAnswer(await last.answer(), takenAndClosed)
    await clock.advance(acceptAfterStop)
    await stopped
  })

  it('ends immediately when there was never a connection', async () => {
    await (await startCollector(new ScriptedTrackingApi(), { clock: new ManualClock() })).stop()
  })

  it('closes connections without a request: used, never used, with an incomplete head', async () => {
    const collector = await startCollector(new ScriptedTrackingApi())
    const used = await connected(collector.url)
    await used.send(post('/v1/t'))
    await used.answer()
    const unused = await connected(collector.url)
    const half = await connected(collector.url)
    await half.send('POST /v1/')
    await collector.stop()
    await Promise.all([used.closed, unused.closed, half.closed])
  })

  it('accepts no new connections while it answers the last requests', async () => {
    const { api, go } = waitingApi()
    const collector = await startCollector(api)
    const idle = await connected(collector.url)
    const wire = await connected(collector.url)
    await wire.send(post('/v1/t'))
    await api.until(() => api.requests.length === 1)
    const stopped = collector.stop()
    await idle.closed
    await expect(connect(collector.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    go()
    await stopped
  })

  it('after acceptAfterStop, closes new connections although requests of others are not parsed yet', async () => {
    const { api, go } = waitingApi()
    const collector = await startCollector(api, { limits: { pipelined: 2 } })
    const wire = await connected(collector.url)
    await wire.send(Buffer.concat(Array(9).fill(post('/v1/t'))))
    await api.until(() => api.requests.length === 2)
    const stopped = collector.stop()
    // After `stop`, new connections still get responses, for the time `limits.acceptAfterStop`.
    for (let isAnswered = true; isAnswered; ) {
      const late = await connected(collector.url)
      await late.send(request('GET /openapi.json'))
      isAnswered = await late.answer('GET').then(
        () => true,
        () => false,
      )
    }
    go()
    for (let count = 0; count < 9; count += 1) expect((await wire.answer()).status).toBe(200)
    await stopped
  })

  it('answers pipelined requests, and closes the connection after the last one', async () => {
    const { api, go } = waitingApi()
    const collector = await startCollector(api)
    const wire = await connected(collector.url)
    await wire.send(Buffer.concat([post('/v1/t'), post('/v1/p')]))
    await api.until(() => api.requests.length === 2)
    const stopped = collector.stop()
    go()
    expectAnswer(await wire.answer(), taken)
    expectAnswer(await wire.answer(), takenAndClosed)
    await stopped
  })

  it('aborts requests that take longer than the drain timeout', async () => {
    const { api } = waitingApi()
    const collector = await startCollector(api, { limits: { drain: durationMs(50) } })
    const wire = await connected(collector.url)
    await wire.send(post('/v1/t'))
    await api.until(() => api.requests.length === 1)
    await collector.stop()
    await wire.closed
    await expect(wire.answer()).rejects.toThrow('the connection was closed')
  })
})

describe('start', () => {
  it('listens on every address of localhost', async () => {
    const addresses = await lookup('localhost', { all: true })
    const collector = await startCollector(new ScriptedTrackingApi(), { host: 'localhost' })
    const { port } = new URL(collector.url)
    for (const { address, family } of addresses) {
      const wire = await connected(`http://${family === 6 ? `[${address}]` : address}:${port}`)
      await wire.send(post('/v1/t'))
      expectAnswer(await wire.answer(), taken)
      await wire.send('rubbish\r\n\r\n')
      expectAnswer(await wire.answer(), problem(400, 'malformed_request', { close: true }))
    }
    const idle = await connected(collector.url)
    await collector.stop()
    await idle.closed
  })

  it('fails when the port is in use', async () => {
    const collector = await startCollector(new ScriptedTrackingApi())
    const port = Number(new URL(collector.url).port)
    await expect(startCollector(new ScriptedTrackingApi(), { port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await collector.stop()
  })
})
