import { describe, expect, it } from '@jest/globals'
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
import { basic, chunked, post, request } from '../../support/network/http-request-bytes.ts'
import { connect, type Wire } from '../../support/network/raw-http-client.ts'

const chunkedHead = (path = '/v1/batch', headers: Readonly<Record<string, string>> = {}) =>
  request(`POST ${path}`, { 'Transfer-Encoding': 'chunked', ...headers })
const ofHttp10 = (line: string, headers = '', body = ''): string =>
  `${line} HTTP/1.0\r\n${headers}${body === '' ? '' : `Content-Length: ${body.length}\r\n`}\r\n${body}`

describe('connections', () => {
  const one = post('/v1/t', { Authorization: basic('A') })
  const two = post('/v1/i', { Authorization: basic('B') })
  rawCases([
    raw('stay open', [one, two], [taken, taken], { reached: [{ type: 'track' }, { type: 'identify' }] }),
    raw('Connection: close', post('/v1/t', { Connection: 'close' }), takenAndClosed),
    raw('Connection: Close, among others', post('/v1/t', { Connection: 'x-hop, Close' }), takenAndClosed),
    raw('two pipelined requests are answered in order', Buffer.concat([one, two]), [taken, taken], {
      reached: [{ headerKey: 'A' }, { headerKey: 'B' }],
    }),
    raw(
      'a body and the next head in one packet',
      [one.subarray(0, -1), Buffer.concat([one.subarray(-1), two])],
      [taken, taken],
    ),
    raw(
      'thirty pipelined requests',
      Buffer.concat(Array.from({ length: 30 }, () => one)),
      Array.from({ length: 30 }, () => taken),
    ),
    raw('a refused request between two others', Buffer.concat([one, request('GET /v1/t'), two]), [
      taken,
      problem(405, 'method_not_allowed', { headers: { allow: 'OPTIONS, POST' } }),
      taken,
    ]),
    raw(
      'what follows Connection: close is not read',
      Buffer.concat([post('/v1/t', { Connection: 'close' }), two]),
      takenAndClosed,
      { reached: [{ type: 'track' }] },
    ),
    raw(
      'byte by byte',
      [...post('/v1/t', {}, '{"a":1}')].map(byte => Buffer.of(byte)),
      taken,
      { reached: [{ body: '{"a":1}' }] },
    ),
    raw('the client closes its side after the request: it is answered', one, taken, { end: true, closed: true }),
    raw('the client closes its side after two requests', Buffer.concat([one, two]), [taken, taken], {
      end: true,
      closed: true,
    }),
    raw('the client closes its side without a request', [], [], { end: true, closed: true }),
    raw('empty lines before a request (RFC 9112 2.2)', Buffer.concat([Buffer.from('\r\n\r\n'), one]), taken),
    raw(
      'a request, then invalid data: the request is answered',
      Buffer.concat([one, Buffer.from('rubbish\r\n\r\n')]),
      takenAndClosed,
      { reached: [{ type: 'track' }] },
    ),
    raw(
      'an upgrade to h2c is ignored',
      post('/v1/t', {
        Connection: 'Upgrade, HTTP2-Settings',
        Upgrade: 'h2c',
        'HTTP2-Settings': 'AAMAAABkAARAAAAAAAIAAAAA',
      }),
      taken,
      { reached: [{ body: '{}' }] },
    ),
    raw(
      'an upgrade to WebSocket is ignored',
      request('GET /openapi.json?', { Connection: 'Upgrade', Upgrade: 'websocket' }),
      { status: 200 },
    ),
  ])
})

describe('an old connection', () => {
  const minAge = 540_000
  const maxAge = 660_000
  const body = '{"a":1}'

  async function start() {
    const clock = new ManualClock()
    const { url, stop } = await startCollector(new ScriptedTrackingApi(), { clock })
    return {
      clock,
      async connect(): Promise<Wire> {
        const wire = await connect(url)
        await wire.send(post('/v1/t'))
        expectAnswer(await wire.answer(), taken)
        return wire
      },
      async stop() {
        const stopped = stop()
        await clock.advance(1)
        await stopped
      },
    }
  }

  it('stays open for nine minutes, and closes with a response after eleven', async () => {
    const server = await start()
    const wire = await server.connect()
    await server.clock.advance(minAge - 1)
    await wire.send(post('/v1/t'))
    expectAnswer(await wire.answer(), taken)
    await wire.send(post('/v1/t', {}, body).subarray(0, -1))
    await server.clock.advance(maxAge - minAge + 1)
    await wire.send(body.slice(-1))
    expectAnswer(await wire.answer(), takenAndClosed)
    expect(await wire.closed).toBe('end')
    await server.stop()
  })

  it('closes only after the last of its pipelined requests', async () => {
    const server = await start()
    const wire = await server.connect()
    await server.clock.advance(maxAge)
    await wire.send(Buffer.concat([post('/v1/t'), post('/v1/t')]))
    expectAnswer(await wire.answer(), taken)
    expectAnswer(await wire.answer(), takenAndClosed)
    expect(await wire.closed).toBe('end')
    await server.stop()
  })

  it('closes at another age than connections that opened together with it', async () => {
    const server = await start()
    const wires: Wire[] = []
    for (let count = 0; count < 30; count += 1) wires.push(await server.connect())
    await server.clock.advance((minAge + maxAge) / 2)
    const ends = new Set<string | undefined>()
    for (const wire of wires) {
      await wire.send(post('/v1/t'))
      ends.add((await wire.answer()).headers['connection'])
    }
    expect(ends).toEqual(new Set(['close', 'keep-alive']))
    for (const wire of wires) wire.reset()
    await server.stop()
  })
})

describe('HTTP/1.0', () => {
  rawCases([
    raw('is answered and closed', ofHttp10('POST /v1/batch', '', '{}'), takenAndClosed, { reached: [{ body: '{}' }] }),
    raw(
      'stays open when asked to',
      [ofHttp10('POST /v1/batch', 'Connection: keep-alive\r\n', '{}'), ofHttp10('POST /v1/t', '', '{}')],
      [taken, takenAndClosed],
    ),
    raw('needs no Host', ofHttp10('GET /v1/projects/KEY/settings'), { status: 200, close: true }),
    raw('ignores Expect', ofHttp10('POST /v1/batch', 'Expect: 100-continue\r\n', '{}'), takenAndClosed, {
      interim: [],
    }),
    raw('a refusal', ofHttp10('GET /nothing'), problem(404, 'not_found', { close: true })),
  ])
})

describe('expectations', () => {
  const expecting = (headers: Readonly<Record<string, string>>, body = '{}') =>
    request('POST /v1/batch', { Expect: '100-continue', 'Content-Length': String(body.length), ...headers })
  rawCases([
    raw('100-continue: go on', [expecting({}), '{}'], taken, { interim: [100], reached: [{ body: '{}' }] }),
    raw('in upper and lower case', [expecting({ Expect: '100-Continue' }), '{}'], taken, { interim: [100] }),
    raw('in chunks', [chunkedHead('/v1/batch', { Expect: '100-continue' }), chunked('{}')], taken, {
      interim: [100],
      reached: [{ body: '{}' }],
    }),
    raw('the body is sent without waiting', request('POST /v1/batch', { Expect: '100-continue' }, '{}'), taken, {
      interim: [100],
    }),
    raw('twice on a connection', [expecting({}), '{}', expecting({}), '[]'], [taken, taken], { interim: [100, 100] }),
    raw(
      'too large: the client need not send the body',
      expecting({ 'Content-Length': '65537' }),
      problem(413, 'payload_too_large', { close: true }),
      { interim: [] },
    ),
    raw(
      'an unknown path',
      request('POST /nothing', { Expect: '100-continue', 'Content-Length': '2' }),
      problem(404, 'not_found', { close: true }),
      { interim: [] },
    ),
    raw(
      'any other expectation',
      request('POST /v1/batch', { Expect: '200-ok' }, '{}'),
      problem(417, 'expectation_failed', { close: true }),
      { reached: [] },
    ),
  ])
})

describe('an unused request body', () => {
  const small = 'x'.repeat(60_000)
  const large = 'x'.repeat(300_000)
  rawCases([
    raw(
      'a small one is read, and the connection stays',
      [post('/nothing', {}, small), post('/v1/t')],
      [problem(404, 'not_found'), taken],
    ),
    raw(
      'a large one is read to its end before the connection closes',
      post('/nothing', {}, large),
      problem(404, 'not_found', { close: true }),
    ),
    raw('a large one in chunks', [chunkedHead('/nothing'), chunked(large)], problem(404, 'not_found', { close: true })),
    raw(
      'a large one of an unsupported method',
      request('PUT /v1/batch', {}, large),
      problem(405, 'method_not_allowed', { close: true, headers: { allow: 'OPTIONS, POST' } }),
    ),
    raw('of a GET', [request('GET /v1/projects/KEY/settings', {}, small), post('/v1/t')], [{ status: 200 }, taken]),
    raw(
      'the whole of a body that is too large can be sent',
      post('/v1/batch', {}, 'x'.repeat(2_000_000)),
      problem(413, 'payload_too_large', { close: true }),
    ),
    raw(
      'the client aborts it',
      [request('POST /nothing', { 'Content-Length': '300000' }), 'x'.repeat(1_000)],
      problem(404, 'not_found', { close: true }),
      { end: true },
    ),
    raw('it is malformed', [chunkedHead('/nothing'), 'what\r\n'], problem(404, 'not_found', { close: true })),
  ])
})
