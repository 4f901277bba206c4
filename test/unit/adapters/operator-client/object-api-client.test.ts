import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from '@jest/globals'
import {
  createObjectApiClient,
  type ObjectApiClient,
} from '../../../../src/adapters/operator-client/object-api-client.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { closingAfterEach } from '../../../support/cleanup.ts'
import { selfSigned } from '../../../support/network/certificates.ts'
import { HttpEndpoint } from '../../../support/network/http-endpoint.ts'

const closing = closingAfterEach()

type Respond = (request: IncomingMessage, response: ServerResponse) => void
/** `requests` are the requests that the server got. */
async function clientOf(respond: Respond, more: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {}) {
  const requests: { line: string; headers: IncomingMessage['headers']; body: string }[] = []
  const server = closing(
    new HttpEndpoint(async (request, response) => {
      requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body: await text(request) })
      respond(request, response)
    }),
  )
  await server.start()
  const { signal = new AbortController().signal, ...limits } = more
  const client = createObjectApiClient({ url: server.url, key: new Secret('the-key') }, { signal, ...limits })
  return { client, requests, url: server.url }
}

const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Respond =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
const problemWith = (code: string, more: object = {}) => ({ code, message: `Text of ${code}.`, ...more })

const view = (id: string) => ({
  ...{ id, kind: 'destination', origin: 'api', version: 3, state: 'enabled', conflict: false },
  ...{ problems: [], document: { id }, fingerprints: {} },
})

describe('requests', () => {
  it.each<[string, (client: ObjectApiClient) => Promise<unknown>, string, object, string]>([
    ['get', client => client.get('destination', 'a.b'), 'GET /v1/destinations/a.b', {}, ''],
    ['an id with other characters', client => client.get('source', 'a/b c'), 'GET /v1/sources/a%2Fb%20c', {}, ''],
    [
      'creation',
      client => client.replace('source', 'a', { id: 'a' }, { expected: 'absent', dryRun: false }),
      'PUT /v1/sources/a',
      { 'if-none-match': '*', 'content-type': 'application/json' },
      '{"id":"a"}',
    ],
    [
      'replacement, only checked',
      client => client.replace('destination', 'a', { id: 'a' }, { expected: 7, dryRun: true }),
      'PUT /v1/destinations/a?dryRun=true',
      { 'if-match': '"7"' },
      '{"id":"a"}',
    ],
    [
      'deletion',
      client => client.delete('destination', 'a', { expected: 7, dryRun: false }),
      'DELETE /v1/destinations/a',
      { 'if-match': '"7"' },
      '',
    ],
    ['pause', client => client.switch('a', 'pause'), 'POST /v1/destinations/a/pause', {}, ''],
    [
      'preview',
      client => client.preview('a', { source: undefined, message: { type: 'page' } }),
      'POST /v1/destinations/a/preview',
      {},
      '{"message":{"type":"page"}}',
    ],
    ['test', client => client.test('a'), 'POST /v1/destinations/a/test', {}, ''],
    [
      'rotation of a secret',
      client => client.rotateSecret('a', '1h'),
      'POST /v1/destinations/a/rotate-secret',
      {},
      '{"overlap":"1h"}',
    ],
    ['rotation of a key', client => client.rotateKey('a', 0), 'POST /v1/sources/a/rotate-key', {}, '{"keep":0}'],
    [
      'rotation with the default',
      client => client.rotateKey('a', undefined),
      'POST /v1/sources/a/rotate-key',
      {},
      '{}',
    ],
  ])('%s', async (_name, call, line, headers, body) => {
    const { client, requests } = await clientOf(json(404, problemWith('not_found')))
    expect(await call(client)).toMatchObject({ kind: 'refused', code: 'not_found' })
    expect(requests).toEqual([
      { line, headers: expect.objectContaining({ authorization: 'Bearer the-key', ...headers }), body },
    ])
  })

  it('reads a list page by page, with the filters', async () => {
    const pages: Readonly<Record<string, object>> = {
      '/v1/destinations?state=paused&source=web&q=x&limit=500': { destinations: [view('a'), view('b')], next: 'b' },
      '/v1/destinations?state=paused&source=web&q=x&after=b&limit=500': { destinations: [view('c')] },
    }
    const { client } = await clientOf((request, response) => json(200, pages[request.url ?? ''])(request, response))
    const listed = await client.list('destination', { state: 'paused', source: 'web', q: 'x' })
    expect(listed).toMatchObject([{ id: 'a' }, { id: 'b' }, { id: 'c' }])
  })

  it('answers with the changed fields; a deletion has none', async () => {
    const { client } = await clientOf((request, response) => {
      if (request.method === 'DELETE') response.writeHead(204).end()
      else json(200, { ...view('a'), changedFields: ['paused'] })(request, response)
    })
    expect(await client.switch('a', 'pause')).toMatchObject({ kind: 'changed', version: 3, changedFields: ['paused'] })
    expect(await client.delete('destination', 'a', { expected: 3, dryRun: false })).toEqual({
      kind: 'changed',
      changedFields: [],
    })
  })
})

describe('refusals about an object', () => {
  const problems = [{ path: 'webhooks[0].url', message: 'is wrong', hint: 'correct it' }]
  it.each([
    [404, problemWith('not_found')],
    [409, problemWith('defined_in_file')],
    [412, problemWith('precondition_failed')],
    [422, problemWith('invalid_object', { problems })],
    [428, problemWith('precondition_required')],
  ])('%d is an answer', async (status, body) => {
    const { client } = await clientOf(json(status, body))
    expect(await client.get('destination', 'a')).toEqual({ kind: 'refused', problems: [], ...body })
  })
})

describe('failures', () => {
  it.each<[string, Respond, string, string]>([
    [
      'a wrong key',
      json(401, problemWith('invalid_operator_key')),
      'invalid_operator_key',
      'the operator API at URL does not accept the operator key of this command; use a file with a key of operator.keys (--operator-key-file or HOOKLINE_OPERATOR_KEY_FILE)',
    ],
    [
      'a key with the role read',
      json(403, problemWith('forbidden')),
      'forbidden',
      'the operator key has the role "read"; use a key with the role "operate"',
    ],
    [
      'too many wrong keys',
      json(429, problemWith('rate_limited'), { 'retry-after': '17' }),
      'rate_limited',
      'the operator API rejects the requests of this command for 17 s, because too many requests had a wrong operator key; check the key, wait, then run the command again',
    ],
    [
      'Kafka outage',
      json(503, problemWith('unavailable')),
      'unavailable',
      'the operator API responded with status 503 (unavailable): Text of unavailable',
    ],
    [
      'another service',
      (_request, response) => void response.writeHead(200).end('<html>'),
      'bad_response',
      'the response of the server at URL (status 200) is not a response of the operator API; correct the URL (--operator-url or HOOKLINE_OPERATOR_URL), or use the hookline command of the same version as the operator service',
    ],
    [
      'a proxy of a service that restarts',
      (_request, response) => void response.writeHead(503).end('<html>'),
      'no_response',
      'a proxy at URL responded with status 503, because it got no response from the operator service; the operator service may have carried out the request: check the result before you run the command again',
    ],
    [
      'a redirect, which is not followed',
      (_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
      'bad_response',
      'the response of the server at URL (status 302) is not a response of the operator API; correct the URL (--operator-url or HOOKLINE_OPERATOR_URL), or use the hookline command of the same version as the operator service',
    ],
    [
      'JSON of another form',
      json(200, { version: 'x' }),
      'bad_response',
      'the response of the server at URL (status 200) is not a response of the operator API; correct the URL (--operator-url or HOOKLINE_OPERATOR_URL), or use the hookline command of the same version as the operator service',
    ],
  ])('%s', async (_name, respond, code, message) => {
    const { client, url } = await clientOf(respond)
    const failure = await client.switch('a', 'pause').catch(error => error)
    expect(failure).toMatchObject({ name: 'OperatorApiFailed', code, message: message.replace('URL', url) })
  })

  it('a version without these routes', async () => {
    const { client, url } = await clientOf(json(404, problemWith('not_found')))
    await expect(client.list('source')).rejects.toThrow(
      `the response of the server at ${url} (status 404) is not a response of the operator API`,
    )
  })

  it('nothing listens', async () => {
    const server = new HttpEndpoint(async () => {})
    await server.start()
    const { url } = server
    await server.close()
    const client = createObjectApiClient({ url, key: new Secret('the-key') }, { signal: new AbortController().signal })
    await expect(client.get('source', 'a')).rejects.toMatchObject({
      code: 'unreachable',
      message: `no connection to the operator API at ${url} (ECONNREFUSED); start an operator service, or correct the URL (--operator-url or HOOKLINE_OPERATOR_URL); if the certificate is not trusted, name the file of its CA in NODE_EXTRA_CA_CERTS`,
    })
  })

  it('names the cause when fetch blocks the port', async () => {
    const url = 'http://127.0.0.1:10080'
    const client = createObjectApiClient({ url, key: new Secret('the-key') }, { signal: new AbortController().signal })
    await expect(client.switch('a', 'pause')).rejects.toMatchObject({
      code: 'unreachable',
      message: `no request was sent to ${url}, because browsers and Node's fetch() block this port (bad port); use another port in operator.listen and in the URL (--operator-url or HOOKLINE_OPERATOR_URL)`,
    })
  })

  const mayBeDone =
    '; the operator service may have carried out the request: check the result before you run the command again'
  const read = (client: ObjectApiClient) => client.get('source', 'a')
  const change = (client: ObjectApiClient) => client.switch('a', 'pause')

  it.each([
    ['a read', read, '; run the command again'],
    ['a change', change, mayBeDone],
  ])('no response to %s', async (_name, call, advice) => {
    const { client, url } = await clientOf(() => {}, { timeoutMs: 50 })
    await expect(call(client)).rejects.toMatchObject({
      code: 'timeout',
      message: `no response from ${url} within 0.05 s${advice}`,
    })
  })

  it.each<[string, (client: ObjectApiClient) => Promise<unknown>, Respond, string]>([
    ['before the response to a read', read, ({ socket }) => socket.destroy(), '; run the command again'],
    ['before the response to a change', change, ({ socket }) => socket.destroy(), mayBeDone],
    [
      'within the response to a change',
      change,
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{')
        setImmediate(() => response.destroy())
      },
      mayBeDone,
    ],
  ])('a connection that is closed %s', async (_name, call, respond, advice) => {
    const { client, url } = await clientOf(respond)
    await expect(call(client)).rejects.toMatchObject({
      code: 'no_response',
      message: `no response from ${url} (UND_ERR_SOCKET)${advice}`,
    })
  })

  it('a certificate that is not trusted, so that nothing is sent', async () => {
    const server = closing(new HttpEndpoint(async () => {}, selfSigned()))
    await server.start()
    const address = { url: server.url, key: new Secret('the-key') }
    const client = createObjectApiClient(address, { signal: new AbortController().signal })
    await expect(change(client)).rejects.toMatchObject({ code: 'unreachable' })
  })

  it('a stop signal cancels the request', async () => {
    const controller = new AbortController()
    const { client } = await clientOf(() => controller.abort(new Error('interrupted')), { signal: controller.signal })
    await expect(client.get('source', 'a')).rejects.toThrow('interrupted')
  })

  it('a stop signal during a change', async () => {
    const controller = new AbortController()
    const { client, url } = await clientOf(() => controller.abort(), { signal: controller.signal })
    await expect(change(client)).rejects.toThrow(`interrupted before the response from ${url}${mayBeDone}`)
  })
})
