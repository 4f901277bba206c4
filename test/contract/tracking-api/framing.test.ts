import { describe } from '@jest/globals'
import { problem, raw, rawCases, taken, takenAndClosed } from '../../support/collector/raw-request-harness.ts'
import { chunk, chunked, request } from '../../support/network/http-request-bytes.ts'

const chunkedHead = (path = '/v1/batch', headers: Readonly<Record<string, string>> = {}) =>
  request(`POST ${path}`, { 'Transfer-Encoding': 'chunked', ...headers })
const malformed = problem(400, 'malformed_request', { close: true })

describe('chunks', () => {
  rawCases([
    raw('one', [chunkedHead(), chunked('{}')], taken, { reached: [{ body: '{}' }] }),
    raw('many', [chunkedHead(), chunked(...'{"batch":[]}')], taken, { reached: [{ body: '{"batch":[]}' }] }),
    raw('none', [chunkedHead(), chunked()], taken, { reached: [{ body: '' }] }),
    raw('a size in upper case with zeros before it', [chunkedHead(), '000C\r\n{"batch":[]}\r\n0\r\n\r\n'], taken, {
      reached: [{ body: '{"batch":[]}' }],
    }),
    raw('extensions', [chunkedHead(), '2;name=value;flag\r\n{}\r\n0\r\n\r\n'], taken, { reached: [{ body: '{}' }] }),
    raw(
      'trailers, which are ignored',
      [chunkedHead(), '2\r\n{}\r\n0\r\nX-Write-Key: TRAILED\r\nDigest: x\r\n\r\n'],
      taken,
      { reached: [{ body: '{}', headerKey: undefined }] },
    ),
    raw(
      'a character over two chunks',
      [chunkedHead(), chunked(Buffer.from([0x22, 0xf0, 0x9f]), Buffer.from([0x98, 0x80, 0x22]))],
      taken,
      { reached: [{ body: '"😀"' }] },
    ),
    raw(
      'Transfer-Encoding in upper and lower case',
      [request('POST /v1/batch', { 'TRANSFER-ENCODING': 'Chunked' }), chunked('{}')],
      taken,
      { reached: [{ body: '{}' }] },
    ),
    raw('the connection is reused', [chunkedHead(), chunked('{}'), chunkedHead(), chunked('[]')], [taken, taken], {
      reached: [{ body: '{}' }, { body: '[]' }],
    }),
    raw('a size that is not a number', [chunkedHead(), 'xyz\r\n{}\r\n0\r\n\r\n'], malformed, { reached: [] }),
    raw('a negative size', [chunkedHead(), '-2\r\n{}\r\n0\r\n\r\n'], malformed, { reached: [] }),
    raw('a size beyond 64 bits', [chunkedHead(), `${'f'.repeat(17)}\r\n{}\r\n`], malformed, { reached: [] }),
    raw('a chunk longer than its size', [chunkedHead(), '1\r\n{}\r\n0\r\n\r\n'], malformed, { reached: [] }),
    raw('a good chunk, then a bad one', [chunkedHead(), chunk('{'), 'what\r\n'], malformed, { reached: [] }),
    raw('extensions of 20 KB', [chunkedHead(), `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`], malformed, {
      reached: [],
    }),
    raw(
      'trailers of 20 KB',
      [chunkedHead(), `2\r\n{}\r\n0\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
      problem(431, 'headers_too_large', { close: true }),
      { reached: [] },
    ),
    raw('the client closes its side within a chunk', [chunkedHead(), '10\r\n{"ba'], malformed, {
      end: true,
      reached: [],
    }),
    raw('the client closes its side before the last chunk', [chunkedHead(), chunk('{}')], malformed, {
      end: true,
      reached: [],
    }),
    raw(
      'gzip as an additional transfer coding',
      [request('POST /v1/batch', { 'Transfer-Encoding': 'gzip, chunked' }), chunked('{}')],
      taken,
      { reached: [{ body: '{}' }] },
    ),
    raw(
      'a transfer coding that does not end in chunked',
      request('POST /v1/batch', { 'Transfer-Encoding': 'identity' }, '{}'),
      malformed,
      { reached: [] },
    ),
    raw(
      'chunked twice',
      [request('POST /v1/batch', { 'Transfer-Encoding': 'chunked, chunked' }), chunked('{}')],
      malformed,
      { reached: [] },
    ),
    raw(
      'chunked together with Content-Length (RFC 9112 6.1)',
      request('POST /v1/batch', { 'Transfer-Encoding': 'chunked', 'Content-Length': '2' }, '2\r\n{}\r\n0\r\n\r\n'),
      malformed,
      { reached: [] },
    ),
  ])
})

describe('Content-Length', () => {
  const withLength = (length: string | readonly string[], body = '{}') =>
    request('POST /v1/batch', { 'Content-Length': length }, body)
  rawCases([
    raw('with zeros before it', withLength('002'), taken, { reached: [{ body: '{}' }] }),
    raw('shorter than the body: the rest is an invalid request', withLength('1'), takenAndClosed, {
      reached: [{ body: '{' }],
    }),
    raw('longer than the body, and the client closes its side', withLength('9'), malformed, { end: true, reached: [] }),
    raw('negative', withLength('-2'), malformed, { reached: [] }),
    raw('with a sign', withLength('+2'), malformed, { reached: [] }),
    raw('not a number', withLength('two'), malformed, { reached: [] }),
    raw('hexadecimal', withLength('0x2'), malformed, { reached: [] }),
    raw('empty', withLength(''), malformed, { reached: [] }),
    raw('a fraction', withLength('2.0'), malformed, { reached: [] }),
    raw('a list', withLength('2, 2'), malformed, { reached: [] }),
    raw('twice, with the same value', withLength(['2', '2']), malformed, { reached: [] }),
    raw('twice, with different values (request smuggling)', withLength(['2', '3']), malformed, { reached: [] }),
  ])
})
