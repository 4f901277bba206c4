import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { durationMs } from '../../../src/core/time.ts'
import { briefly, expectAnswer, problem, raw } from '../../support/collector/raw-request-harness.ts'
import { chunk } from '../../support/network/http-request-bytes.ts'
import { connect, type Wire } from '../../support/network/raw-http-client.ts'
import { ask, operatorCases } from '../../support/operator/raw-request-harness.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { startOperator } from '../../support/operator/server.ts'

const sync = 'POST /v1/audiences/Shoppers/syncs'
const asked = ['sync Shoppers full']
const ofLength = (length: number): Buffer => ask(sync, '', { 'Content-Length': String(length) })
const inChunks = ask(sync, '', { 'Transfer-Encoding': 'chunked' })

describe('an incomplete list is cut short', () => {
  const malformed = problem(400, 'malformed_request', { close: true })
  const broken = { asked, lines: ['ada'], cutShort: 'malformed_request' }
  operatorCases([
    { ...raw('when the client closes its side', [ofLength(100), 'ada\n'], malformed, { end: true }), ...broken },
    {
      ...raw('when the client resets the connection', [ofLength(100), wire => wire.reset()], []),
      asked,
      cutShort: 'the client closed the connection',
    },
    {
      ...raw('when the client closes its side within a chunk', [inChunks, chunk('ada\nbo')], malformed, { end: true }),
      ...broken,
    },
    { ...raw('when a chunk is malformed', [inChunks, chunk('ada\n'), 'xyz\r\n'], malformed), ...broken },
    {
      ...raw(
        'when its gzip is damaged',
        ask(sync, gzipSync('ada\nbob\n').subarray(0, -4)),
        problem(400, 'invalid_body'),
      ),
      asked,
      lines: ['ada', 'bob'],
      cutShort: 'gzip cannot be unpacked: unexpected end of file',
    },
  ])
  operatorCases(
    [
      {
        ...raw(
          'when the client sends nothing more',
          [ofLength(100), 'ada\n'],
          problem(408, 'request_timeout', { close: true }),
        ),
        asked,
        lines: ['ada'],
        cutShort: 'request_timeout',
      },
    ],
    { limits: { progress: { bytes: 64, within: durationMs(1_000) } } },
  )
})

describe('a list that is refused while it is received', () => {
  const refused = problem(400, 'invalid_body', { close: true })
  operatorCases([
    { ...raw('is answered immediately', [ofLength(1_000_000), 'wrong\n'], refused), asked, lines: ['wrong'] },
    { ...raw('whole', ask(sync, 'wrong\n'), problem(400, 'invalid_body')), asked, lines: ['wrong'] },
  ])
  operatorCases(
    [
      {
        ...raw(
          'is answered also when the client does not read while it sends',
          [ofLength(4_000_000), 'wrong\n', 'x'.repeat(3_999_994)],
          refused,
        ),
        asked,
        lines: ['wrong'],
      },
    ],
    { limits: { linger: { time: durationMs(60_000), bytes: 4_194_304 } } },
  )
})

describe('the time of an upload', () => {
  const limits = {
    ...{ requestTimeout: durationMs(1_000), headTimeout: durationMs(1_000), checkEvery: durationMs(20) },
    linger: briefly,
  }
  const operator = new ScriptedOperatorApi()
  let server: Awaited<ReturnType<typeof startOperator>>
  beforeAll(async () => {
    server = await startOperator(operator, { limits })
  })
  afterAll(() => server.stop())
  afterEach(() => operator.forget())

  /**
   * Connects until the server responds to a first request. The time limits of the next request begin
   * with its first byte. Those of the first request begin with the connection, so on a busy machine,
   * they can end before the server reads the request.
   */
  async function answeredOnce(): Promise<Wire> {
    for (;;) {
      const wire = await connect(server.url)
      await wire.send(ask('GET /openapi.json'))
      if ((await wire.answer().catch(() => undefined))?.status === 200) return wire
      wire.reset()
    }
  }

  /** Waits until a request that is not an upload has timed out. */
  async function anyOtherIsOver(): Promise<void> {
    const other = await answeredOnce()
    await other.send(ask('POST /v1/regulations', '', { 'Content-Length': '10' }))
    expectAnswer(await other.answer(), problem(408, 'request_timeout', { close: true }))
    other.reset()
  }

  it('may be longer than the request timeout while data arrives', async () => {
    const wire = await answeredOnce()
    await wire.send(inChunks)
    await wire.send(chunk('ada\n'))
    await anyOtherIsOver()
    await wire.send(Buffer.concat([chunk('bob\n'), chunk('')]))
    expectAnswer(await wire.answer(), { status: 202, body: '{"syncId":7,"received":2}' })
    // The connection is still usable, and its next request has the default timeout.
    await wire.send(ask('POST /v1/regulations', '', { 'Content-Length': '10' }))
    expectAnswer(await wire.answer(), problem(408, 'request_timeout', { close: true }))
    wire.reset()
  })

  it('does not include the time that Kafka needs', async () => {
    const goOn = operator.holdBack()
    const wire = await answeredOnce()
    await wire.send(ask(sync, 'ada\n'))
    await operator.until(() => operator.asked.length > 0)
    await anyOtherIsOver()
    goOn()
    expectAnswer(await wire.answer(), { status: 202, body: '{"syncId":7,"received":1}' })
    wire.reset()
  })

  it('uses no memory: the server reads no further data while the service consumes none', async () => {
    const goOn = operator.holdBack()
    const wire = await answeredOnce()
    const piece = `${'x'.repeat(1_023)}\n`.repeat(64)
    const pieces = 400
    await wire.send(ofLength(piece.length * pieces))
    let sent = 0
    const sending = (async () => {
      for (; sent < pieces; sent++) await wire.send(piece)
    })()
    await operator.until(() => operator.asked.length > 0)
    await untilStill(() => sent)
    // The client can send only as much as the kernel buffers hold, not all 25 MiB.
    expect(sent).toBeLessThan(pieces / 2)
    goOn()
    await sending
    expectAnswer(await wire.answer(), { status: 202, body: `{"syncId":7,"received":${64 * pieces}}` })
    wire.reset()
  })

  it('is not limited by other uploads up to three; a fourth is answered 503, so that clients retry it', async () => {
    const goOn = operator.holdBack()
    const wires: Wire[] = []
    const send = async (bytes: Buffer): Promise<Wire> => {
      const wire = await answeredOnce()
      wires.push(wire)
      await wire.send(bytes)
      return wire
    }
    const uploads: Wire[] = []
    for (const userId of ['ada', 'bob', 'eve']) {
      uploads.push(await send(ask(sync, `${userId}\n`)))
      await operator.until(() => operator.asked.length === uploads.length)
    }
    expectAnswer(await (await send(ask(sync, 'joe\n'))).answer(), problem(503, 'unavailable'))
    // Uploads do not use the memory for the bodies of other requests.
    const deletion = await send(ask('POST /v1/regulations', '{"userIds":["ada"]}'))
    expectAnswer(await deletion.answer(), { status: 202 })
    goOn()
    for (const upload of uploads) expectAnswer(await upload.answer(), { status: 202 })
    expectAnswer(await (await send(ask(sync, 'joe\n'))).answer(), { status: 202 })
    for (const wire of wires) wire.reset()
  })
})

/** Waits until the number has not changed for about 200 ms: no data flows through the sockets. */
async function untilStill(value: () => number): Promise<void> {
  for (let before = -1, still = 0; still < 20; ) {
    await new Promise(resolve => setTimeout(resolve, 10))
    still = value() === before ? still + 1 : 0
    before = value()
  }
}
