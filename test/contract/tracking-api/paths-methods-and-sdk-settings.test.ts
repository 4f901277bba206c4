import { describe } from '@jest/globals'
import { callTypes } from '../../../src/core/message/message.ts'
import { problem, type RawCase, raw, rawCases, taken } from '../../support/collector/raw-request-harness.ts'
import { post, request } from '../../support/network/http-request-bytes.ts'

const batches = ['/v1/batch', '/v1/import', '/v1/b', '/beacon/v1/batch']
const calls = callTypes.flatMap(type =>
  [`/v1/${type}`, `/v1/${type.charAt(0)}`, `/api/s/${type}`, `/api/s/s2s/${type}`].map(path => [path, type] as const),
)
const postAllow = { allow: 'OPTIONS, POST' }
const getAllow = { allow: 'GET, HEAD, OPTIONS' }

describe('paths that accept a batch', () => {
  rawCases(
    batches.flatMap((path): RawCase[] => [
      raw(`POST ${path}`, post(path), taken, { reached: [{ type: undefined, body: '{}' }] }),
      raw(`POST ${path}/, as Java writes it`, post(`${path}/`), taken, { reached: [{ type: undefined }] }),
    ]),
  )
})

describe('paths that accept one message, of the type in the path', () => {
  rawCases(calls.map(([path, type]) => raw(`POST ${path}`, post(path), taken, { reached: [{ type }] })))
})

describe('forms of a path', () => {
  rawCases([
    raw('a slash at the end of a path', post('/v1/t/'), taken, { reached: [{ type: 'track' }] }),
    raw('two slashes, from a host setting that ends in a slash', post('//v1/batch'), taken),
    raw('slashes in the middle', post('/v1///batch'), taken),
    raw('an absolute URL (RFC 9112 3.2.2)', post('http://collector:8080/v1/batch'), taken),
    raw('an absolute URL with a query', post('http://collector/v1/p?writeKey=K'), taken, {
      reached: [{ type: 'page', queryKey: 'K' }],
    }),
    raw('percent-encoded letters', post('/v1/%62atch'), taken),
    raw('an unknown query', post('/v1/batch?verbose=1&x'), taken, { reached: [{ queryKey: undefined }] }),
    raw('a fragment, which no client should send', post('/v1/batch#top'), taken),
    raw('another case', post('/V1/Batch'), problem(404, 'not_found'), { reached: [] }),
    raw('the root', post('/'), problem(404, 'not_found')),
    raw('no version', post('/batch'), problem(404, 'not_found')),
    raw('a type that SDKs cannot send: delete', post('/v1/delete'), problem(404, 'not_found'), { reached: [] }),
    raw('a longer path', post('/v1/batch/more'), problem(404, 'not_found')),
    raw('dot segments are not resolved', post('/v1/x/../batch'), problem(404, 'not_found')),
    raw('an encoded slash', post('/v1%2Fbatch'), problem(404, 'not_found')),
    raw('a path of 8,000 characters', post(`/${'a'.repeat(8_000)}`), problem(404, 'not_found')),
    raw('an invalid percent-encoding', post('/v1/%zz'), problem(400, 'malformed_request')),
    raw('an incomplete percent-encoding in the query', post('/v1/batch?writeKey=%'), taken),
    raw('a percent-encoding of invalid UTF-8', post('/v1/projects/%ff/settings'), problem(400, 'malformed_request')),
    raw('the paths of the ops server are on another listener', request('GET /metrics'), problem(404, 'not_found')),
  ])
})

describe('methods', () => {
  const elsewhere = ['GET', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'PROPFIND', 'TRACE', 'SEARCH']
  rawCases([
    ...elsewhere.map(method =>
      raw(
        `${method} where messages are sent`,
        request(`${method} /v1/batch`),
        problem(405, 'method_not_allowed', { headers: postAllow, method }),
        { reached: [] },
      ),
    ),
    raw(
      'PUT with a body',
      [request('PUT /v1/track', {}, '{"type":"track"}'), post('/v1/track')],
      [problem(405, 'method_not_allowed', { headers: postAllow }), taken],
      { reached: [{ body: '{}' }] },
    ),
    raw(
      'HEAD on a path for messages',
      request('HEAD /v1/batch'),
      problem(405, 'method_not_allowed', { headers: postAllow, method: 'HEAD' }),
    ),
    raw(
      'GET on a path with a slash at the end',
      request('GET /v1/batch/'),
      problem(405, 'method_not_allowed', { headers: postAllow }),
    ),
    raw('POST to the document', post('/openapi.json'), problem(405, 'method_not_allowed', { headers: getAllow })),
    raw(
      'DELETE of settings',
      request('DELETE /v1/projects/KEY/settings'),
      problem(405, 'method_not_allowed', { headers: getAllow }),
    ),
    raw('OPTIONS that is not a preflight lists the methods', request('OPTIONS /v1/batch'), {
      status: 204,
      headers: postAllow,
    }),
    raw('OPTIONS of the document', request('OPTIONS /openapi.json'), { status: 204, headers: getAllow }),
    raw('OPTIONS of an unknown path', request('OPTIONS /nothing'), problem(404, 'not_found')),
    raw('OPTIONS of the server', request('OPTIONS *'), { status: 204, headers: { allow: 'GET, HEAD, OPTIONS, POST' } }),
    raw('an asterisk with another method', request('POST *'), problem(404, 'not_found')),
    raw(
      'CONNECT is not supported',
      'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
      problem(405, 'method_not_allowed', { close: true, headers: { allow: 'GET, HEAD, OPTIONS, POST' } }),
    ),
  ])
})

describe('settings for browser and mobile SDKs', () => {
  const settings = (key: string) => ({ status: 200, body: `{"integrations":{"Segment.io":{"apiKey":"${key}"}}}` })
  rawCases(
    [
      raw('of a key that a source has', request('GET /v1/projects/KEY/settings'), settings('KEY')),
      raw('with a slash at the end', request('GET /v1/projects/KEY/settings/'), settings('KEY')),
      raw(
        'of a key with characters that a path cannot have',
        request('GET /v1/projects/a%2Fb%20%C3%BC/settings'),
        settings('a/b ü'),
      ),
      raw('of an unknown key', request('GET /v1/projects/other/settings'), problem(404, 'not_found')),
      raw('of a key in another case', request('GET /v1/projects/key/settings'), problem(404, 'not_found')),
      raw(
        'of a key of 501 characters',
        request(`GET /v1/projects/${'k'.repeat(501)}/settings`),
        problem(404, 'not_found'),
      ),
      raw('of an empty key', request('GET /v1/projects//settings'), problem(404, 'not_found')),
      raw('HEAD has the same head', request('HEAD /v1/projects/KEY/settings'), { status: 200, method: 'HEAD' }),
      raw('a key that does not decode', request('GET /v1/projects/%ff/settings'), problem(400, 'malformed_request')),
    ],
    { writeKeys: ['KEY', 'a/b ü'] },
  )
})
