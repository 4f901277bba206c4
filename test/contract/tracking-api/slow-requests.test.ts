import { describe, expect, it } from '@jest/globals'
import { defaultLimits, type HttpLimits } from '../../../src/adapters/http/server-limits.ts'
import { durationMs } from '../../../src/core/time.ts'
import {
  concurrentRawCases,
  expectAnswer,
  problem,
  raw,
  rawCases,
  startCollector,
  taken,
  takenAndClosed,
} from '../../support/collector/raw-request-harness.ts'
import { ScriptedTrackingApi } from '../../support/collector/scripted-tracking-api.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { chunk, post, request } from '../../support/network/http-request-bytes.ts'
import { connect, type Wire } from '../../support/network/raw-http-client.ts'

const tooSlow = problem(408, 'request_timeout', { close: true })
const progress = { bytes: 64, within: durationMs(120) }
const stall = (wire: Wire): Promise<unknown> => wire.closed
const drip =
  (bytes: string, everyMs: number) =>
  async (wire: Wire): Promise<void> => {
    let isOver = false
    void wire.closed.then(() => {
      isOver = true
    })
    while (!isOver) {
      await wire.send(bytes)
      await new Promise(resolve => setTimeout(resolve, everyMs))
    }
  }

describe('an incomplete request', () => {
  const timeouts = { headTimeout: durationMs(4_000), requestTimeout: durationMs(6_000), checkEvery: durationMs(20) }
  const chunkedHead = request('POST /v1/batch', { 'Transfer-Encoding': 'chunked' })
  concurrentRawCases(
    [
      raw('nothing is sent, as by browsers: closed without a response', stall, [], { closed: true }),
      raw('an incomplete request line', ['POST /v1/ba', stall], tooSlow, { reached: [] }),
      raw('an incomplete head', ['POST /v1/batch HTTP/1.1\r\nHost: a\r\nX: ', stall], tooSlow, { reached: [] }),
      raw('a head without its last line', ['POST /v1/batch HTTP/1.1\r\nHost: a\r\n', stall], tooSlow, { reached: [] }),
      raw('a field at intervals', ['POST /v1/batch HTTP/1.1\r\n', drip('X: y\r\n', 20)], tooSlow, { reached: [] }),
      raw('an incomplete second request after a complete one', [post('/v1/t'), 'POST /v1/', stall], [taken, tooSlow], {
        reached: [{ type: 'track' }],
      }),
      raw(
        'a body that is fast enough, but endless',
        [chunkedHead, drip(chunk('x'.repeat(64)).toString('latin1'), 20)],
        tooSlow,
        { reached: [] },
      ),
      raw(
        'the body of a request to an unknown path',
        [request('POST /nothing', { 'Content-Length': '10' }), stall],
        problem(404, 'not_found'),
        { closed: true },
      ),
    ],
    { ...timeouts, progress: { ...progress, within: durationMs(3_000) } },
  )
})

describe('an incomplete body', () => {
  const hundred = request('POST /v1/batch', { 'Content-Length': '10000' })
  const chunkedHead = request('POST /v1/batch', { 'Transfer-Encoding': 'chunked' })
  rawCases(
    [
      raw('none of it', [hundred, stall], tooSlow, { reached: [] }),
      raw('none of it, in chunks', [chunkedHead, stall], tooSlow, { reached: [] }),
      raw(
        'none of it, after 100 Continue',
        [request('POST /v1/batch', { 'Content-Length': '9', Expect: '100-continue' }), stall],
        tooSlow,
        { interim: [100], reached: [] },
      ),
      raw('a part of it', [hundred, 'x'.repeat(5_000), stall], tooSlow, { reached: [] }),
      raw('the last byte is missing', [post('/v1/batch', { 'Content-Length': '3' }, '{}'), stall], tooSlow, {
        reached: [],
      }),
      raw('the last chunk is missing', [chunkedHead, chunk('{}'), stall], tooSlow, { reached: [] }),
      raw('stopped within a chunk', [chunkedHead, '10\r\nabc', stall], tooSlow, { reached: [] }),
      raw('a byte at intervals', [hundred, drip('x', 20)], tooSlow, { reached: [] }),
      raw('a chunk of one byte at intervals', [chunkedHead, drip('1\r\nx\r\n', 20)], tooSlow, { reached: [] }),
    ],
    { limits: { progress } },
  )
})

describe('a slow body', () => {
  const { bytes } = progress

  const sent = (...sizes: readonly number[]) => sentUnder(progress, ...sizes)

  /** Sends chunks of these sizes, one in each time span `required.within`. */
  async function sentUnder(required: HttpLimits['progress'], ...sizes: readonly number[]) {
    const { within } = required
    const clock = new ManualClock()
    const collector = await startCollector(new ScriptedTrackingApi(), {
      ...{ clock, limits: { progress: required } },
      maxBodyBytes: 4 * 1_048_576,
    })
    const [wire, other] = [await connect(collector.url), await connect(collector.url)]
    await wire.send(request('POST /v1/batch', { 'Transfer-Encoding': 'chunked', Connection: 'close' }))
    for (const size of sizes) {
      await wire.send(chunk('x'.repeat(size)))
      // When a response arrives on `other`, the server has read another 64 KiB of the chunk.
      for (let read = 0; read <= size; read += 65_536) {
        await other.send(post('/v1/t'))
        expectAnswer(await other.answer(), taken)
      }
      await clock.advance(within)
    }
    await wire.send(chunk(''))
    const answer = await wire.answer()
    for (const each of [wire, other]) each.reset()
    const stopped = collector.stop()
    await clock.advance(within)
    await stopped
    return answer
  }

  it('is accepted while each period brings enough bytes', async () => {
    expectAnswer(await sent(bytes, bytes, 3 * bytes, bytes), takenAndClosed)
  })

  it('is refused when a period brings too few bytes', async () => {
    expectAnswer(await sent(bytes, 3 * bytes, bytes - 1), tooSlow)
  })

  it.each([
    ['a limit', { ...progress, large: { above: 1_000, bytes: 500 } }],
    ['the default limit', defaultLimits.progress],
  ])('must arrive faster once it is large: %s', async (_, required) => {
    const { above, bytes: faster } = required.large ?? { above: 0, bytes: 0 }
    expect(faster).toBeGreaterThan(5 * required.bytes)
    expectAnswer(await sentUnder(required, above + 1, faster), takenAndClosed)
    expectAnswer(await sentUnder(required, above + 1, faster - 1), tooSlow)
  })
})

describe('a kept connection', () => {
  it('outlasts the time limit for connections without data', async () => {
    const { url, stop } = await startCollector(new ScriptedTrackingApi(), {
      limits: { inactivityTimeout: durationMs(50) },
    })
    const [kept, unused] = [await answeredOnce(url), await connect(url)]
    await unused.closed
    await kept.send(post('/v1/t'))
    expect((await kept.answer()).status).toBe(200)
    kept.reset()
    await stop()
  })

  /**
   * Connects until the server responds: on a busy machine, the time limit can end a connection before
   * the server reads its first request.
   */
  async function answeredOnce(url: string): Promise<Wire> {
    for (;;) {
      const wire = await connect(url)
      await wire.send(post('/v1/t'))
      if ((await wire.answer().catch(() => undefined)) !== undefined) return wire
      wire.reset()
    }
  }

  rawCases(
    [
      raw(
        'is closed when no request arrives',
        [post('/v1/t'), stall],
        { ...taken, headers: { 'keep-alive': 'timeout=0' } },
        { closed: true },
      ),
    ],
    { limits: { keepAlive: durationMs(1) } },
  )
})
