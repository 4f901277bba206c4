import { describe, expect, it } from '@jest/globals'
import { defaultLimits, type HttpLimits } from '../../../src/adapters/http/server-limits.ts'
import { durationMs } from '../../../src/core/time.ts'
import {
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
/**
 * The head timeout is long enough for a head that a client on a busy machine sends in one write.
 */
const limits = {
  headTimeout: durationMs(1_000),
  requestTimeout: durationMs(2_000),
  checkEvery: durationMs(20),
  progress: { bytes: 64, within: durationMs(120) },
}
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

describe('an incomplete head', () => {
  rawCases(
    [
      raw('nothing is sent, as by browsers: closed without a response', stall, [], { closed: true }),
      raw('an incomplete request line', ['POST /v1/ba', stall], tooSlow, { reached: [] }),
      raw('an incomplete head', ['POST /v1/batch HTTP/1.1\r\nHost: a\r\nX: ', stall], tooSlow, { reached: [] }),
      raw('a head without its last line', ['POST /v1/batch HTTP/1.1\r\nHost: a\r\n', stall], tooSlow, { reached: [] }),
      raw('a field at intervals', ['POST /v1/batch HTTP/1.1\r\n', drip('X: y\r\n', 20)], tooSlow, { reached: [] }),
      raw('an incomplete second request after a complete one', [post('/v1/t'), 'POST /v1/', stall], [taken, tooSlow], {
        reached: [{ type: 'track' }],
      }),
    ],
    { limits },
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
      raw('fast enough, but endless', [chunkedHead, drip(chunk('x'.repeat(64)).toString('latin1'), 20)], tooSlow, {
        reached: [],
      }),
      raw(
        'of a request to an unknown path',
        [request('POST /nothing', { 'Content-Length': '10' }), stall],
        problem(404, 'not_found'),
        { closed: true },
      ),
    ],
    { limits },
  )
})

describe('a slow body', () => {
  const { bytes } = limits.progress

  const sent = (...sizes: readonly number[]) => sentUnder(limits.progress, ...sizes)

  /** Sends chunks of these sizes, one in each time span `progress.within`. */
  async function sentUnder(progress: HttpLimits['progress'], ...sizes: readonly number[]) {
    const { within } = progress
    const clock = new ManualClock()
    const collector = await startCollector(new ScriptedTrackingApi(), {
      ...{ clock, limits: { progress } },
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
    ['a limit', { ...limits.progress, large: { above: 1_000, bytes: 500 } }],
    ['the default limit', defaultLimits.progress],
  ])('must arrive faster once it is large: %s', async (_, progress) => {
    const { above, bytes: faster } = progress.large ?? { above: 0, bytes: 0 }
    expect(faster).toBeGreaterThan(5 * progress.bytes)
    expectAnswer(await sentUnder(progress, above + 1, faster), takenAndClosed)
    expectAnswer(await sentUnder(progress, above + 1, faster - 1), tooSlow)
  })
})

describe('a kept connection', () => {
  it('outlasts the time limit for connections without data', async () => {
    const { url, stop } = await startCollector(new ScriptedTrackingApi(), { limits: { silence: durationMs(50) } })
    const [kept, unused] = [await connect(url), await connect(url)]
    await kept.send(post('/v1/t'))
    await kept.answer()
    await unused.closed
    await kept.send(post('/v1/t'))
    expect((await kept.answer()).status).toBe(200)
    kept.reset()
    await stop()
  })

  rawCases(
    [
      raw(
        'is closed when no request arrives',
        [post('/v1/t'), stall],
        { ...taken, headers: { 'keep-alive': 'timeout=0' } },
        { closed: true },
      ),
    ],
    { limits: { ...limits, keepAlive: durationMs(1) } },
  )
})
