import { describe } from '@jest/globals'
import { problem, raw, rawCases, taken } from '../../support/collector/raw-request-harness.ts'
import { basic, post, request } from '../../support/network/http-request-bytes.ts'

const Origin = 'https://shop.example'
const readable = {
  'access-control-allow-origin': Origin,
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'Retry-After',
  vary: 'Origin',
}
const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  request(`OPTIONS ${path}`, { Origin, 'Access-Control-Request-Method': 'POST', ...headers })
const allowed = (headers = 'authorization, content-type, x-retry-count, x-write-key', methods = 'OPTIONS, POST') => ({
  status: 204,
  headers: {
    ...readable,
    'access-control-allow-methods': methods,
    'access-control-allow-headers': headers,
    'access-control-max-age': '86400',
  },
})

describe('a preflight request', () => {
  rawCases([
    raw(
      'analytics.js: Authorization and X-Retry-Count',
      ask('/v1/t', { 'Access-Control-Request-Headers': 'authorization,content-type,x-retry-count' }),
      allowed(),
    ),
    raw(
      'Jitsu: X-Write-Key',
      ask('/api/s/track', { 'Access-Control-Request-Headers': 'content-type,x-write-key' }),
      allowed(),
    ),
    raw(
      'RudderStack: AnonymousId too',
      ask('/v1/batch', { 'Access-Control-Request-Headers': 'anonymousid, authorization' }),
      allowed('authorization, content-type, x-retry-count, x-write-key, anonymousid'),
    ),
    raw('no headers', ask('/v1/b'), allowed()),
    raw('a path with a slash at the end', ask('/v1/import/'), allowed()),
    raw('with the write key in the query', ask('/beacon/v1/batch?writeKey=K'), allowed()),
    raw(
      'settings',
      ask('/v1/projects/KEY/settings', { 'Access-Control-Request-Method': 'GET' }),
      allowed(undefined, 'GET, HEAD, OPTIONS'),
    ),
    raw(
      'another method: the response lists the supported ones',
      ask('/v1/t', { 'Access-Control-Request-Method': 'DELETE' }),
      allowed(),
    ),
    raw(
      'invalid header names are not repeated',
      ask('/v1/t', { 'Access-Control-Request-Headers': 'a b;c' }),
      allowed(),
    ),
    raw('an unknown path', ask('/nothing'), problem(404, 'not_found', { headers: readable })),
    raw(
      'with a body, which is ignored',
      [request('OPTIONS /v1/t', { Origin, 'Access-Control-Request-Method': 'POST' }, '{}'), post('/v1/t')],
      [allowed(), taken],
    ),
  ])
})

describe('responses that a page may read', () => {
  rawCases([
    raw('success', post('/v1/t', { Origin, Authorization: basic('KEY') }), { ...taken, headers: readable }),
    raw(
      'success of a beacon, which has credentials',
      post('/beacon/v1/batch?writeKey=K', { Origin, Cookie: 'a=b', 'Content-Type': 'text/plain;charset=UTF-8' }),
      { ...taken, headers: readable },
    ),
    raw('a page with a null origin, such as a file', post('/v1/t', { Origin: 'null' }), {
      ...taken,
      headers: { ...readable, 'access-control-allow-origin': 'null' },
    }),
    raw(
      'a refusal',
      request('GET /v1/t', { Origin }),
      problem(405, 'method_not_allowed', { headers: { ...readable, allow: 'OPTIONS, POST' } }),
    ),
    raw('a 404', post('/nothing', { Origin }), problem(404, 'not_found', { headers: readable })),
    raw(
      'a 413',
      request('POST /v1/t', { Origin, 'Content-Length': '70000' }, 'x'.repeat(70_000)),
      problem(413, 'payload_too_large', { close: true, headers: readable }),
    ),
    raw(
      'a 417',
      request('POST /v1/t', { Origin, Expect: 'more', 'Content-Length': '2' }),
      problem(417, 'expectation_failed', { close: true, headers: readable }),
    ),
    raw('settings', request('GET /v1/projects/KEY/settings', { Origin }), { status: 200, headers: readable }),
    raw('no CORS headers for an invalid origin', post('/v1/t', { Origin: 'https://a b' }), taken),
    raw('no CORS headers without an origin', post('/v1/t'), taken),
  ])
})
