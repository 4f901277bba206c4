import { describe, it } from '@jest/globals'
import { closingAfterEach } from '../../support/cleanup.ts'
import {
  expectAnswer,
  problem,
  type RawCase,
  raw,
  rawCases,
  startCollector,
  taken,
} from '../../support/collector/raw-request-harness.ts'
import { ScriptedTrackingApi } from '../../support/collector/scripted-tracking-api.ts'
import { post, request } from '../../support/network/http-request-bytes.ts'
import { connect } from '../../support/network/raw-http-client.ts'

const closing = closingAfterEach()

const malformed = problem(400, 'malformed_request', { close: true })
const tooMuch = problem(431, 'headers_too_large', { close: true })
/** The response to data that Node parses as a request of HTTP/1.0 with an unknown method. */
const notAllowed = problem(405, 'method_not_allowed', { close: true, headers: { allow: 'OPTIONS, POST' } })
const head = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`
const refused = (name: string, send: string | Buffer, answer = malformed): RawCase =>
  raw(name, send, answer, { reached: [] })
/** The start of a TLS handshake. */
const clientHello = Buffer.from('16030100f8010000f40303', 'hex')

describe('data that is not HTTP/1.1', () => {
  rawCases([
    refused('text', 'hello\r\n\r\n'),
    refused('bytes', Buffer.from([0, 1, 2, 3, 255, 254, 13, 10, 13, 10])),
    refused('TLS', Buffer.concat([clientHello, Buffer.alloc(200, 7)])),
    refused('HTTP/2 with prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    refused('HTTP/0.9', 'GET /openapi.json\r\n\r\n'),
    refused('HTTP/1.2', head('GET /openapi.json HTTP/1.2', 'Host: a')),
    raw('ICE', head('SOURCE /v1/batch ICE/1.0', 'Host: a'), notAllowed, { reached: [] }),
    raw('RTSP', head('DESCRIBE /v1/batch RTSP/1.0', 'Host: a'), notAllowed, { reached: [] }),
    refused('an unknown method', head('FROB /v1/batch HTTP/1.1', 'Host: a')),
    refused('no path', head('POST HTTP/1.1', 'Host: a')),
    refused('line feeds alone', 'POST /v1/batch HTTP/1.1\nHost: a\nContent-Length: 2\n\n{}'),
    refused('a carriage return alone', 'POST /v1/batch HTTP/1.1\rHost: a\r\n\r\n'),
    raw('the client closes its side within the head', 'POST /v1/batch HTTP/1.1\r\nHost: a\r\nContent-', malformed, {
      end: true,
      reached: [],
    }),
  ])
})

describe('header fields', () => {
  const withField = (field: string): string => head('POST /v1/batch HTTP/1.1', 'Host: a', field, 'Content-Length: 0')
  rawCases([
    refused('no colon', withField('Nonsense')),
    refused('a space before the colon (RFC 9112 5.1)', withField('X-Write-Key : KEY')),
    refused('a folded line (obs-fold)', withField('X-Write-Key: KEY\r\n more')),
    refused('the first line begins with a space', 'POST /v1/batch HTTP/1.1\r\n Host: a\r\n\r\n'),
    refused('a control character in a value', withField('X-Write-Key: K\x07Y')),
    raw('a value that is not ASCII', post('/v1/batch', { 'X-Name': 'M\xfcller' }), taken),
    raw('an empty value', post('/v1/batch', { 'X-Empty': '' }), taken),
    raw(
      'names of JavaScript object properties',
      post('/v1/batch', { ['__proto__x']: '1', constructor: '2', toString: '3' }),
      taken,
    ),
  ])
})

describe('Host (RFC 9112 3.2)', () => {
  rawCases([
    raw(
      'none',
      [head('POST /v1/batch HTTP/1.1', 'Content-Length: 0'), post('/v1/t')],
      [problem(400, 'malformed_request'), taken],
      { reached: [{ type: 'track' }] },
    ),
    raw('two', [post('/v1/batch', { Host: ['a', 'b'] }), post('/v1/t')], [problem(400, 'malformed_request'), taken], {
      reached: [{ type: 'track' }],
    }),
    raw('an empty one', post('/v1/batch', { Host: '' }), taken),
    raw('with a port', post('/v1/batch', { Host: 'collector.example:8080' }), taken),
    raw('another host name: any is accepted', post('/v1/batch', { Host: 'elsewhere.example' }), taken),
  ])
})

describe('floods of header fields', () => {
  const shortFields = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [index.toString(36), '']))
  const fields = (count: number, value = '1'): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, value]))
  rawCases([
    raw('198 fields and the two required ones', post('/v1/batch', fields(198)), taken),
    raw(
      '199 fields and the two required ones',
      [post('/v1/batch', fields(199)), post('/v1/t')],
      [problem(431, 'headers_too_large'), taken],
      { reached: [{ type: 'track' }] },
    ),
    raw('3,000 short ones', post('/v1/batch', shortFields(3_000)), problem(431, 'headers_too_large'), { reached: [] }),
    refused('one of 16 KB', head('POST /v1/batch HTTP/1.1', 'Host: a', `X: ${'x'.repeat(16_384)}`), tooMuch),
    raw('one of 15 KB', post('/v1/batch', { X: 'x'.repeat(15_000) }), taken),
    refused('a name of 16 KB', head('POST /v1/batch HTTP/1.1', 'Host: a', `${'x'.repeat(16_384)}: 1`), tooMuch),
    refused('a path of 16 KB', head(`POST /v1/batch?${'x'.repeat(16_384)} HTTP/1.1`, 'Host: a'), tooMuch),
    refused(
      'many with 16 KB in total',
      head(
        'POST /v1/batch HTTP/1.1',
        'Host: a',
        ...Object.entries(fields(100, 'x'.repeat(200))).map(([name, value]) => `${name}: ${value}`),
      ),
      tooMuch,
    ),
    raw(
      'endless fields are read only up to the limit',
      ['POST /v1/batch HTTP/1.1\r\nHost: a\r\n', ...Array.from({ length: 100 }, () => `X: ${'x'.repeat(1_000)}\r\n`)],
      tooMuch,
      { reached: [] },
    ),
    raw(
      'a head of 15 KB in packets of 100 bytes',
      post('/v1/batch', { X: 'x'.repeat(15_000) })
        .toString('latin1')
        .match(/.{1,100}/gs) ?? [],
      taken,
    ),
  ])
})

it('a malformed body whose head came with the body of the request before', async () => {
  const collector = await startCollector(new ScriptedTrackingApi())
  closing({ close: () => collector.stop() })
  const wire = await connect(collector.url)
  const next = request('POST /v1/t', { 'Transfer-Encoding': 'chunked' })
  await wire.send(Buffer.concat([post('/v1/t'), Buffer.from(next)]))
  expectAnswer(await wire.answer(), taken)
  await wire.send('what\r\n')
  expectAnswer(await wire.answer(), malformed)
})
