import { describe } from '@jest/globals'
import { type RawCase, raw, rawCases, taken } from '../../support/collector/raw-request-harness.ts'
import { basic, type Fields, post } from '../../support/network/http-request-bytes.ts'

const key = (
  name: string,
  headers: Fields,
  headerKey: string | undefined,
  path = '/v1/batch',
  queryKey?: string,
): RawCase => raw(name, post(path, headers), taken, { reached: [{ headerKey, queryKey }] })

describe('the place of the write key', () => {
  rawCases([
    key('Basic, the password empty', { Authorization: basic('KEY') }, 'KEY'),
    key('Basic, with a password', { Authorization: basic('KEY', 'pass:word') }, 'KEY'),
    key('Basic without the colon', { Authorization: `Basic ${Buffer.from('KEY').toString('base64')}` }, 'KEY'),
    key('Basic without padding', { Authorization: 'Basic S0VZUzo' }, 'KEYS'),
    key('Basic in the URL alphabet', { Authorization: `Basic ${Buffer.from('k?~>:').toString('base64url')}` }, 'k?~>'),
    key('the scheme in lower case', { authorization: `basic ${Buffer.from('KEY:').toString('base64')}` }, 'KEY'),
    key('the header in upper case', { AUTHORIZATION: basic('KEY') }, 'KEY'),
    key('with spaces around it', { Authorization: `  ${basic('KEY')}  ` }, 'KEY'),
    key('Basic without a user', { Authorization: basic('', 'secret') }, undefined),
    key('Basic that is not base64', { Authorization: 'Basic ***' }, undefined),
    key(
      'Basic with bytes that are not UTF-8',
      { Authorization: `Basic ${Buffer.from([0xff, 0x3a]).toString('base64')}` },
      '\ufffd',
    ),
    key('Bearer, as of OAuth', { Authorization: 'Bearer abc' }, undefined),
    key('X-Write-Key', { 'X-Write-Key': 'KEY' }, 'KEY'),
    key('X-Write-Key in lower case', { 'x-write-key': 'KEY' }, 'KEY'),
    key("X-Write-Key with Jitsu's key and secret", { 'X-Write-Key': 'KEY:secret' }, 'KEY:secret'),
    key('X-Write-Key, empty', { 'X-Write-Key': '' }, undefined),
    key('both headers: Authorization', { Authorization: basic('A'), 'X-Write-Key': 'X' }, 'A'),
    key('Authorization twice: the first', { Authorization: [basic('A'), basic('B')] }, 'A'),
    key('X-Write-Key twice: the first', { 'X-Write-Key': ['A', 'B'] }, 'A'),
    key('the query', {}, undefined, '/beacon/v1/batch?writeKey=KEY', 'KEY'),
    key('the query, percent-encoded', {}, undefined, '/v1/t?a=1&writeKey=K%2FE+Y', 'K/E Y'),
    key('the query, twice: the first', {}, undefined, '/v1/t?writeKey=A&writeKey=B', 'A'),
    key('the query, empty', {}, undefined, '/v1/t?writeKey=', undefined),
    key('the query in another case', {}, undefined, '/v1/t?writekey=KEY', undefined),
    key('header and query', { Authorization: basic('H') }, 'H', '/v1/t?writeKey=Q', 'Q'),
    key('nowhere: the body may have the key', {}, undefined),
    key('a key of 5,000 characters', { 'X-Write-Key': 'k'.repeat(5_000) }, 'k'.repeat(5_000)),
    key('a JavaScript property name', {}, undefined, '/v1/t?__proto__=x&constructor=y&writeKey=KEY', 'KEY'),
  ])
})

describe('the source that is known before the body is complete', () => {
  const long = 'x'.repeat(70_000)
  const source = (name: string, headers: Fields, path: string, body: string, sourceId: string | undefined): RawCase =>
    raw(name, post(path, headers, body), taken, { reached: [{ sourceId }] })
  rawCases(
    [
      source('key in a header', { 'X-Write-Key': 'KEY' }, '/v1/batch', '{}', 'web'),
      source('key in the query', {}, '/v1/batch?writeKey=KEY', '{}', 'web'),
      source('unknown key in the query', {}, '/v1/batch?writeKey=no', '{}', undefined),
      source('key in the first 64 KiB of the body', {}, '/v1/batch', `{"writeKey":"KEY","batch":["${long}"]}`, 'web'),
      source(
        'key in the first 64 KiB, after a byte order mark',
        {},
        '/v1/batch',
        `\ufeff{"writeKey":"KEY","batch":["${long}"]}`,
        'web',
      ),
      source('key after the first 64 KiB', {}, '/v1/batch', `{"batch":["${long}"],"writeKey":"KEY"}`, undefined),
      source('key in a body of less than 64 KiB', {}, '/v1/batch', '{"writeKey":"KEY"}', undefined),
    ],
    { maxBodyBytes: 1_048_576 },
  )
})

describe('strict mode', () => {
  const strict = (name: string, headers: Fields, is: boolean): RawCase =>
    raw(name, post('/v1/batch', headers), taken, { reached: [{ strict: is }] })
  rawCases([
    strict('X-Strict-Mode: 1', { 'X-Strict-Mode': '1' }, true),
    strict('in lower case', { 'x-strict-mode': '1' }, true),
    strict('X-Strict-Mode: 0', { 'X-Strict-Mode': '0' }, false),
    strict('X-Strict-Mode: true', { 'X-Strict-Mode': 'true' }, false),
    strict('absent', {}, false),
  ])
})
