import { describe } from '@jest/globals'
import { callTypes } from '../../../src/core/message/message.ts'
import { post, problem, type RawCase, rawCases, request, taken } from '../../support/collector-cases.ts'

const batches = ['/v1/batch', '/v1/import', '/v1/b', '/beacon/v1/batch']
const calls = callTypes.flatMap(type =>
  [`/v1/${type}`, `/v1/${type.charAt(0)}`, `/api/s/${type}`, `/api/s/s2s/${type}`].map(path => [path, type] as const),
)
const postAllow = { allow: 'OPTIONS, POST' }
const getAllow = { allow: 'GET, HEAD, OPTIONS' }

describe('paths that take a batch', () => {
  rawCases(
    batches.flatMap((path): RawCase[] => [
      { name: `POST ${path}`, send: post(path), answers: [taken], reached: [{ type: undefined, body: '{}' }] },
      {
        name: `POST ${path}/, as Java writes it`,
        send: post(`${path}/`),
        answers: [taken],
        reached: [{ type: undefined }],
      },
    ]),
  )
})

describe('paths that take one message, which is what the path says', () => {
  rawCases(
    calls.map(([path, type]) => ({ name: `POST ${path}`, send: post(path), answers: [taken], reached: [{ type }] })),
  )
})

describe('forms of a path', () => {
  rawCases([
    { name: 'a slash at the end of a call', send: post('/v1/t/'), answers: [taken], reached: [{ type: 'track' }] },
    { name: 'a host setting that ends in a slash makes two of them', send: post('//v1/batch'), answers: [taken] },
    { name: 'slashes in the middle', send: post('/v1///batch'), answers: [taken] },
    { name: 'an absolute URL (RFC 9112 3.2.2)', send: post('http://collector:8080/v1/batch'), answers: [taken] },
    {
      name: 'an absolute URL with a query',
      send: post('http://collector/v1/p?writeKey=K'),
      answers: [taken],
      reached: [{ type: 'page', queryKey: 'K' }],
    },
    { name: 'percent-encoded letters', send: post('/v1/%62atch'), answers: [taken] },
    {
      name: 'a query that means nothing',
      send: post('/v1/batch?verbose=1&x'),
      answers: [taken],
      reached: [{ queryKey: undefined }],
    },
    { name: 'a fragment, which no client should send', send: post('/v1/batch#top'), answers: [taken] },
    { name: 'another case', send: post('/V1/Batch'), answers: [problem(404, 'not_found')], reached: [] },
    { name: 'the root', send: post('/'), answers: [problem(404, 'not_found')] },
    { name: 'no version', send: post('/batch'), answers: [problem(404, 'not_found')] },
    {
      name: 'a call that SDKs cannot make: delete',
      send: post('/v1/delete'),
      answers: [problem(404, 'not_found')],
      reached: [],
    },
    { name: 'a longer path', send: post('/v1/batch/more'), answers: [problem(404, 'not_found')] },
    { name: 'dots are no directories', send: post('/v1/x/../batch'), answers: [problem(404, 'not_found')] },
    { name: 'an encoded slash', send: post('/v1%2Fbatch'), answers: [problem(404, 'not_found')] },
    { name: 'a path of 8,000 characters', send: post(`/${'a'.repeat(8_000)}`), answers: [problem(404, 'not_found')] },
    { name: 'no valid percent-encoding', send: post('/v1/%zz'), answers: [problem(400, 'malformed_request')] },
    { name: 'a half percent-encoding in the query', send: post('/v1/batch?writeKey=%'), answers: [taken] },
    {
      name: 'no valid UTF-8 behind it',
      send: post('/v1/projects/%ff/settings'),
      answers: [problem(400, 'malformed_request')],
    },
    { name: 'the operators’ paths are elsewhere', send: request('GET /metrics'), answers: [problem(404, 'not_found')] },
  ])
})

describe('methods', () => {
  const elsewhere = ['GET', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'PROPFIND', 'TRACE', 'SEARCH']
  rawCases([
    ...elsewhere.map(method => ({
      name: `${method} where messages are sent`,
      send: request(`${method} /v1/batch`),
      answers: [problem(405, 'method_not_allowed', { headers: postAllow, method })],
      reached: [],
    })),
    {
      name: 'PUT with a body',
      send: [request('PUT /v1/track', {}, '{"type":"track"}'), post('/v1/track')],
      answers: [problem(405, 'method_not_allowed', { headers: postAllow }), taken],
      reached: [{ body: '{}' }],
    },
    {
      name: 'HEAD where messages are sent',
      send: request('HEAD /v1/batch'),
      answers: [problem(405, 'method_not_allowed', { headers: postAllow, method: 'HEAD' })],
    },
    {
      name: 'GET on a path with a slash at the end',
      send: request('GET /v1/batch/'),
      answers: [problem(405, 'method_not_allowed', { headers: postAllow })],
    },
    {
      name: 'POST to the document',
      send: post('/openapi.json'),
      answers: [problem(405, 'method_not_allowed', { headers: getAllow })],
    },
    {
      name: 'DELETE of settings',
      send: request('DELETE /v1/projects/KEY/settings'),
      answers: [problem(405, 'method_not_allowed', { headers: getAllow })],
    },
    {
      name: 'OPTIONS without a question tells the methods',
      send: request('OPTIONS /v1/batch'),
      answers: [{ status: 204, headers: postAllow }],
    },
    {
      name: 'OPTIONS of the document',
      send: request('OPTIONS /openapi.json'),
      answers: [{ status: 204, headers: getAllow }],
    },
    { name: 'OPTIONS of nothing', send: request('OPTIONS /nothing'), answers: [problem(404, 'not_found')] },
    {
      name: 'OPTIONS of the server',
      send: request('OPTIONS *'),
      answers: [{ status: 204, headers: { allow: 'GET, HEAD, OPTIONS, POST' } }],
    },
    { name: 'an asterisk for anything else', send: request('POST *'), answers: [problem(404, 'not_found')] },
    {
      name: 'CONNECT: this is no proxy',
      send: 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
      answers: [problem(405, 'method_not_allowed', { close: true, headers: { allow: 'GET, HEAD, OPTIONS, POST' } })],
    },
  ])
})

describe('settings, without which SDKs for browsers and mobile apps send nothing', () => {
  const settings = (key: string) => ({ status: 200, body: `{"integrations":{"Segment.io":{"apiKey":"${key}"}}}` })
  rawCases(
    [
      {
        name: 'of a key that a source has',
        send: request('GET /v1/projects/KEY/settings'),
        answers: [settings('KEY')],
      },
      { name: 'with a slash at the end', send: request('GET /v1/projects/KEY/settings/'), answers: [settings('KEY')] },
      {
        name: 'of a key with characters that a path cannot have',
        send: request('GET /v1/projects/a%2Fb%20%C3%BC/settings'),
        answers: [settings('a/b ü')],
      },
      {
        name: 'of an unknown key',
        send: request('GET /v1/projects/other/settings'),
        answers: [problem(404, 'not_found')],
      },
      {
        name: 'of a key in another case',
        send: request('GET /v1/projects/key/settings'),
        answers: [problem(404, 'not_found')],
      },
      {
        name: 'of a key of 501 characters',
        send: request(`GET /v1/projects/${'k'.repeat(501)}/settings`),
        answers: [problem(404, 'not_found')],
      },
      { name: 'of none', send: request('GET /v1/projects//settings'), answers: [problem(404, 'not_found')] },
      {
        name: 'HEAD has the same head',
        send: request('HEAD /v1/projects/KEY/settings'),
        answers: [{ status: 200, method: 'HEAD' }],
      },
      {
        name: 'a key that does not decode',
        send: request('GET /v1/projects/%ff/settings'),
        answers: [problem(400, 'malformed_request')],
      },
    ],
    { writeKeys: ['KEY', 'a/b ü'] },
  )
})
