import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createFindOperatorKey } from '../../../src/core/operator/operator-keys.ts'
import { Secret } from '../../../src/core/secret.ts'
import { startCollector } from '../../support/collector/raw-request-harness.ts'
import { ScriptedTrackingApi } from '../../support/collector/scripted-tracking-api.ts'
import { operatorKey, readKey, ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { startOperator } from '../../support/operator/server.ts'

const description: { readonly paths: Readonly<Record<string, object>> } = JSON.parse(
  readFileSync(new URL('../../../schemas/openapi-operator.json', import.meta.url), 'utf8'),
)

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function started(options: Parameters<typeof startOperator>[1] = {}) {
  const api = new ScriptedOperatorApi()
  const server = await startOperator(api, options)
  closing.push(server.stop)
  const ask = (method: string, path: string, key?: string, init: RequestInit = {}): Promise<Response> =>
    fetch(server.url + path, {
      method,
      ...init,
      headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...init.headers },
    })
  const statusOf = async (...asked: Parameters<typeof ask>): Promise<number> => {
    const response = await ask(...asked)
    await response.text()
    return response.status
  }
  return { ...server, api, ask, statusOf }
}

const regulations = '/v1/regulations'
const changingOperations = Object.entries(description.paths).flatMap(([path, operations]) =>
  Object.keys(operations)
    .filter(method => method !== 'get' && path !== '/v1/session')
    .map(method => [method.toUpperCase(), path] as const),
)
const body = '{"userIds":["ada"]}'

describe('roles', () => {
  it.each([
    ['read', 'GET', '/v1/regulations/d-1', readKey, 200],
    ['read', 'HEAD', '/v1/regulations/d-1', readKey, 200],
    ['read', 'POST', regulations, readKey, 403],
    ['read', 'POST', '/v1/audiences/Shoppers/syncs', readKey, 403],
    ['operate', 'GET', '/v1/regulations/d-1', operatorKey, 200],
    ['operate', 'POST', regulations, operatorKey, 202],
    ['operate', 'POST', '/v1/audiences/Shoppers/syncs', operatorKey, 202],
  ])('%s: %s %s', async (_role, method, path, key, status) => {
    const { statusOf, api } = await started()
    expect(await statusOf(method, path, key, method === 'POST' ? { body } : {})).toBe(status)
    expect(api.asked).toHaveLength(status === 403 ? 0 : 1)
  })
})

describe('keys during a rotation', () => {
  it('accepts both keys, and applies changes without a restart', async () => {
    const keysOf = (...keys: readonly string[]) =>
      createFindOperatorKey([{ name: 'ada', role: 'operate', secrets: keys.map(key => new Secret(key)) }])
    let findKey = keysOf('old-key')
    const { statusOf } = await started({ findKey: () => findKey })
    const statuses = async () => [
      await statusOf('GET', '/v1/regulations/d-1', 'old-key'),
      await statusOf('GET', '/v1/regulations/d-1', 'new-key'),
    ]
    expect(await statuses()).toEqual([200, 401])
    findKey = keysOf('new-key', 'old-key')
    expect(await statuses()).toEqual([200, 200])
    findKey = keysOf('new-key')
    expect(await statuses()).toEqual([401, 200])
  })
})

describe('wrong keys', () => {
  it('are counted, and throttled until the limiter permits another attempt', async () => {
    let now = 0
    const { ask, statusOf, answered } = await started({ clock: { ...processClock, monotonic: () => now } })
    for (let guess = 0; guess < 10; guess++)
      expect(await statusOf('GET', '/v1/regulations/d-1', `guess-${guess}`)).toBe(401)
    const refused = await ask('GET', '/v1/regulations/d-1', 'guess-11')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
    // While an address is throttled, the response does not reveal whether a key is valid.
    expect(await statusOf('GET', '/v1/regulations/d-1', operatorKey)).toBe(429)
    expect(await answered()).toEqual({ invalid_operator_key: 10, rate_limited: 2 })
    now = 10_000
    expect(await statusOf('GET', '/v1/regulations/d-1', operatorKey)).toBe(200)
  })

  it.each([
    ['the address in the header of the proxy', 'X-Forwarded-For', 200],
    ['the address of the connection, without a configured header', undefined, 429],
  ])('are throttled by %s', async (_, clientAddressHeader, status) => {
    const clock = { ...processClock, monotonic: () => 0 }
    const { ask } = await started({ clock, ...(clientAddressHeader && { clientAddressHeader }) })
    const from = async (address: string, key: string): Promise<number> => {
      const headers = { 'x-forwarded-for': `192.0.2.200, ${address}` }
      return (await ask('GET', '/v1/regulations/d-1', key, { headers })).status
    }
    for (let guess = 0; guess < 10; guess++) expect(await from('192.0.2.1', `guess-${guess}`)).toBe(401)
    expect([await from('192.0.2.1', operatorKey), await from('192.0.2.2', operatorKey)]).toEqual([429, status])
  })
})

describe('the audit log', () => {
  it('has a line for each change with key, action, number of users and request id', async () => {
    const { ask, audited } = await started()
    const deletion = await ask('POST', regulations, operatorKey, { body })
    const sync = await ask('POST', '/v1/audiences/Shoppers/syncs?mode=partial', operatorKey, { body: 'ada\nbob\n' })
    await ask('GET', '/v1/regulations/d-1', readKey)
    await ask('POST', regulations, operatorKey, { body: '{' })
    await ask('POST', regulations, 'nobody')
    const ada = { key: 'ada', role: 'operate' }
    expect(audited).toEqual([
      {
        ...{ ...ada, requestId: deletion.headers.get('x-request-id'), action: 'delete_users' },
        ...{ id: 'd-1', users: 1, result: 'ok' },
      },
      {
        ...{ ...ada, requestId: sync.headers.get('x-request-id'), action: 'sync_audience' },
        ...{ audience: 'Shoppers', mode: 'partial', lines: 2, syncId: 7, received: 2, result: 'ok' },
      },
      { ...ada, requestId: expect.any(String), action: 'delete_users', result: 'invalid_json' },
    ])
    expect(JSON.stringify(audited)).not.toMatch(/operator-key|bob/)
  })

  it('has one line for each request that may change something, with its own action', async () => {
    const { statusOf, audited } = await started()
    for (const [method, path] of changingOperations)
      await statusOf(method, path.replace(/\{\w+\}/g, 'absent'), operatorKey, { body: '{"unknown":1}' })
    expect(audited).toHaveLength(changingOperations.length)
    const actions = audited.map(line => (line as { action?: string }).action)
    expect(new Set(actions.filter(Boolean)).size).toBe(changingOperations.length)
  })

  it('has a line for each change that the role of the key does not permit', async () => {
    const { ask, statusOf, audited } = await started()
    const refused = await ask('POST', regulations, readKey, { body })
    expect(audited).toEqual([
      {
        ...{ key: 'dashboard', role: 'read', requestId: refused.headers.get('x-request-id') },
        ...{ action: 'delete_users', result: 'forbidden' },
      },
    ])
    for (const [method, path] of changingOperations) await statusOf(method, path.replace(/\{\w+\}/g, 'absent'), readKey)
    expect(audited).toHaveLength(1 + changingOperations.length)
  })

  it('has a line for a change that failed with an internal error', async () => {
    const { statusOf, api, audited } = await started()
    api.deleteUsers = () => Promise.reject(new Error('a mistake'))
    expect(await statusOf('POST', regulations, operatorKey, { body })).toBe(500)
    expect(audited).toMatchObject([{ key: 'ada', action: 'delete_users', result: 'internal_error' }])
  })
})

it('a client that disconnects while its request is handled does not disturb others', async () => {
  const { url, api, ask, statusOf, answered } = await started()
  const asked = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const { findDeletion } = api
  api.findDeletion = async id => {
    reached.resolve()
    await asked.promise
    return findDeletion.call(api, id)
  }
  const headers = `Host: h\r\nAuthorization: Bearer ${operatorKey}\r\n\r\n`
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(`GET /v1/regulations/d-1 HTTP/1.1\r\n${headers}`)
  await reached.promise
  socket.resetAndDestroy()
  // This response shows that the server has noticed the end of the earlier connection.
  expect(await statusOf('GET', '/openapi.json')).toBe(200)
  asked.resolve()
  expect(await statusOf('GET', '/v1/regulations/d-1', operatorKey)).toBe(200)
  await (await ask('GET', '/openapi.json')).text()
  expect(await answered()).toEqual({ ok: 3 })
})

const origin = 'https://page.example'
const preflight = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
const corsOf = ({ headers }: Response): readonly string[] =>
  [...headers.keys()].filter(name => name.startsWith('access-control-') || name === 'vary')

describe('pages of other origins', () => {
  it.each([
    ['a preflight', 'OPTIONS', regulations, preflight, 204],
    ['a request', 'POST', regulations, { origin }, 202],
    ['a request without a key', 'GET', '/v1/regulations/d-1', { origin, authorization: '' }, 401],
    ['a path that does not exist', 'GET', '/v1/nothing', { origin }, 404],
    ['the document', 'GET', '/openapi.json', { origin }, 200],
  ])('get no CORS headers: %s', async (_name, method, path, headers, status) => {
    const { ask } = await started()
    const response = await ask(method, path, operatorKey, { headers, ...(method === 'POST' && { body }) })
    expect([response.status, corsOf(response)]).toEqual([status, []])
  })

  it('get no CORS headers on the listener of the collector, where the operator API is deprecated', async () => {
    const server = await startCollector(new ScriptedTrackingApi(), { operator: new ScriptedOperatorApi() })
    closing.push(server.stop)
    const authorization = `Bearer ${operatorKey}`
    const asked = [
      await fetch(server.url + regulations, { method: 'POST', body, headers: { origin, authorization } }),
      await fetch(server.url + regulations, { method: 'OPTIONS', headers: preflight }),
    ]
    expect(asked.map(response => [response.status, corsOf(response)])).toEqual([
      [202, []],
      [204, []],
    ])
    const tracking = await fetch(`${server.url}/v1/batch`, { method: 'OPTIONS', headers: preflight })
    expect(corsOf(tracking)).toContain('access-control-allow-origin')
  })
})

it('the operator listener has no tracking API, and the collector no operator API without an operator key', async () => {
  const { statusOf } = await started()
  expect(await statusOf('POST', '/v1/batch', operatorKey, { body: '{}' })).toBe(404)
  const server = await startCollector(new ScriptedTrackingApi())
  closing.push(server.stop)
  const response = await fetch(server.url + regulations, {
    ...{ method: 'POST', body },
    headers: { authorization: `Bearer ${operatorKey}` },
  })
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({
    code: 'not_found',
    message: expect.stringMatching(/operator\.listen\. Hookline serves the API there if operator\.keys has a key\.$/),
  })
})
