import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe } from '@jest/globals'
import {
  type ExpectedAnswer,
  problem,
  type RawCase,
  raw,
  rawCases,
  taken,
} from '../../support/collector/raw-request-harness.ts'
import { chunked, post, request } from '../../support/network/http-request-bytes.ts'

type Headers = Readonly<Record<string, string>>

const body = '{"batch":[{"type":"track","event":"Größe 😀"}]}'
const gzipped = gzipSync(body)

const reads = (name: string, bytes: Buffer | string, text: string, headers: Headers = {}): RawCase =>
  raw(name, post('/v1/batch', headers, bytes), taken, { reached: [{ body: text }] })
const refuses = (name: string, bytes: Buffer | string, answer: ExpectedAnswer, headers: Headers = {}): RawCase =>
  raw(name, post('/v1/batch', headers, bytes), answer, { reached: [] })
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

describe('the bytes of a body show its format: plain', () => {
  rawCases([
    reads('JSON', body, body, { 'Content-Type': 'application/json' }),
    reads('text/plain, as browsers send it', body, body, { 'Content-Type': 'text/plain' }),
    reads('a form, as RudderStack says', body, body, { 'Content-Type': 'application/x-www-form-urlencoded' }),
    reads('no content type', body, body),
    reads('another character set is ignored', body, body, { 'Content-Type': 'application/json; charset=iso-8859-1' }),
    reads('Content-Encoding says gzip, but the body is plain', body, body, { 'Content-Encoding': 'gzip' }),
    reads('an unknown encoding', body, body, { 'Content-Encoding': 'x-unknown' }),
    reads('no body at all', '', ''),
    reads('no body, with Content-Length 0', '', '', { 'Content-Length': '0' }),
    reads('a body that is not JSON is left to the API', 'not json', 'not json'),
    reads('with white space around it', ` \r\n\t${body}\n`, ` \r\n\t${body}\n`),
    reads('one byte', '[', '['),
  ])
})

describe('text', () => {
  rawCases([
    reads('a byte order mark is removed', `\ufeff${body}`, body),
    reads('only the first one', '\ufeff\ufeff{}', '\ufeff{}'),
    reads('a byte order mark alone', '\ufeff', ''),
    reads('in gzip too', gzipSync(`\ufeff${body}`), body),
    reads('a byte that is invalid in UTF-8', latin1('{"a":"\xff"}'), '{"a":"\ufffd"}'),
    reads('invalid bytes in gzip', gzipSync(latin1('{"a":"\xff"}')), '{"a":"\ufffd"}'),
    reads('NUL', '{"a":"\u0000"}', '{"a":"\u0000"}'),
    reads('characters of four bytes', '"😀😀"', '"😀😀"'),
  ])
})

const members = Buffer.concat([gzipSync('{"batch":'), gzipSync('[]'), gzipSync('}')])

describe('the bytes of a body show its format: gzip', () => {
  rawCases([
    reads('with Content-Encoding: gzip', gzipped, body, {
      'Content-Encoding': 'gzip',
      'Content-Type': 'application/json',
    }),
    reads('without a header', gzipped, body),
    reads('as a form, as RudderStack Node sends it', gzipped, body, {
      'Content-Type': 'application/x-www-form-urlencoded',
    }),
    reads('with another Content-Encoding', gzipped, body, { 'Content-Encoding': 'br' }),
    reads('three members one after the other', members, '{"batch":[]}'),
    reads('zeros behind it', Buffer.concat([gzipped, Buffer.alloc(100)]), body),
    reads('of nothing', gzipSync(''), ''),
    raw(
      'in chunks, as Kotlin sends it',
      [
        request('POST /v1/b', { 'Transfer-Encoding': 'chunked', 'Content-Type': 'text/plain' }),
        chunked(gzipped.subarray(0, 1), gzipped.subarray(1, 9), gzipped.subarray(9)),
      ],
      taken,
      { reached: [{ body }] },
    ),
    refuses('cut short', gzipped.subarray(0, -9), problem(400, 'invalid_body')),
    refuses(
      'a wrong checksum',
      Buffer.concat([gzipped.subarray(0, -8), Buffer.alloc(8, 1)]),
      problem(400, 'invalid_body'),
    ),
    refuses(
      'rubbish inside',
      Buffer.concat([gzipped.subarray(0, 10), Buffer.alloc(50, 0xff)]),
      problem(400, 'invalid_body'),
    ),
    refuses('rubbish behind it', Buffer.concat([gzipped, Buffer.from('rubbish')]), problem(400, 'invalid_body')),
    refuses(
      'a method that gzip does not have',
      Buffer.concat([Buffer.from([0x1f, 0x8b, 7]), gzipped.subarray(3)]),
      problem(400, 'invalid_body'),
    ),
    reads(
      'gzip in gzip is unpacked once',
      gzipSync(gzipSync('{}', { level: 0 })),
      gzipSync('{}', { level: 0 }).toString(),
    ),
    reads('deflate is not supported', deflateSync('{}'), deflateSync('{}').toString()),
    reads('brotli is not supported', brotliCompressSync('{}'), brotliCompressSync('{}').toString()),
  ])
})

const limit = 65_536
const text = (bytes: number): string => `"${'a'.repeat(bytes - 2)}"`
/** A text that gzip can hardly compress. */
const hard = (bytes: number): string => {
  const letters: string[] = []
  for (let seed = 1; letters.length < bytes; seed = (seed * 48_271) % 2_147_483_647)
    letters.push(String.fromCharCode(33 + (seed % 90)))
  return letters.join('')
}
const tooLarge = problem(413, 'payload_too_large')
const tooLargeAndClosed = problem(413, 'payload_too_large', { close: true })

describe('a limit of 65,536 bytes uncompressed', () => {
  rawCases([
    reads('exactly the limit', text(limit), text(limit)),
    refuses('one more, and Content-Length says so', text(limit + 1), tooLargeAndClosed),
    reads('exactly so many, gzip', gzipSync(text(limit)), text(limit)),
    refuses('one more, gzip', gzipSync(text(limit + 1)), tooLarge),
    reads(
      'exactly the limit, in two members',
      Buffer.concat([gzipSync(hard(limit / 2)), gzipSync(hard(limit / 2))]),
      hard(limit / 2).repeat(2),
    ),
    refuses(
      'one more over three members',
      Buffer.concat([gzipSync(hard(limit / 2)), gzipSync(hard(limit / 2)), gzipSync('x')]),
      tooLarge,
    ),
    refuses('a bomb: 4 MiB in 4 KiB', gzipSync(Buffer.alloc(64 * limit)).subarray(0, limit), tooLarge),
    raw(
      'exactly the limit, in chunks',
      [
        request('POST /v1/batch', { 'Transfer-Encoding': 'chunked' }),
        chunked(text(limit).slice(0, 40_000), text(limit).slice(40_000)),
      ],
      taken,
      { reached: [{ body: text(limit) }] },
    ),
    raw(
      'one byte more, in chunks',
      [request('POST /v1/batch', { 'Transfer-Encoding': 'chunked' }), chunked(text(limit), 'x')],
      tooLarge,
      { reached: [] },
    ),
    raw(
      'endless chunks are read only up to the limit',
      [
        request('POST /v1/batch', { 'Transfer-Encoding': 'chunked' }),
        ...Array.from({ length: 20 }, () =>
          Buffer.concat([Buffer.from('8000\r\n'), Buffer.alloc(32_768, 97), Buffer.from('\r\n')]),
        ),
      ],
      tooLargeAndClosed,
      { reached: [] },
    ),
    raw(
      'Content-Length of a terabyte is answered immediately',
      [request('POST /v1/batch', { 'Content-Length': '1099511627776' }), '{'],
      tooLargeAndClosed,
      { reached: [] },
    ),
    raw(
      'Content-Length beyond the range of numbers',
      [request('POST /v1/batch', { 'Content-Length': '9'.repeat(25) })],
      problem(400, 'malformed_request', { close: true }),
      { reached: [] },
    ),
    reads('characters of four bytes count as four', '😀'.repeat(limit / 4), '😀'.repeat(limit / 4)),
    refuses('one character too many', '😀'.repeat(limit / 4 + 1), tooLargeAndClosed),
  ])
})

describe('the default limit: 4 MiB', () => {
  const usual = 4_194_304
  const key = { 'X-Write-Key': 'KEY' }
  rawCases(
    [
      reads('exactly the limit', text(usual), text(usual), key),
      reads('the limit, gzip', gzipSync(hard(usual)), hard(usual), key),
      refuses('one more, gzip', gzipSync(hard(usual + 1)), tooLarge, key),
      refuses('a bomb: 256 MiB in 1 MiB', gzipSync(Buffer.alloc(256 * 1_048_576), { level: 1 }), tooLarge, key),
      reads('1,504,997 bytes, which the size check of an SDK lets through', text(1_504_997), text(1_504_997), key),
    ],
    { maxBodyBytes: usual },
  )
})
