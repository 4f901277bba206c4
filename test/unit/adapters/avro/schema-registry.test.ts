import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { createRegistry, type Registry, RegistryUnavailable } from '../../../../src/adapters/avro/schema-registry.ts'
import { Secret } from '../../../../src/core/units.ts'
import { createAuthority } from '../../../support/network/certificates.ts'

/** Answers as a real registry never or seldom does; the real one is in the contract suite. */
let server: Server | undefined
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise(resolve => (server === undefined ? resolve(undefined) : server.close(resolve)))
  server = undefined
})

async function registryAt(
  answer: RequestListener,
  limitMs = 5_000,
  auth?: { username: Secret; password: Secret },
): Promise<Registry> {
  const listening = createServer(answer)
  server = listening
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  const { port } = listening.address() as AddressInfo
  return createRegistry({ url: `http://127.0.0.1:${port}/base/`, auth }, limitMs)
}
const answering =
  (status: number, body: string): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json' }).end(body)
const json = (value: object) => answering(200, JSON.stringify(value))

describe('a schema that is found', () => {
  it.each([
    ['an unknown id', answering(404, '{"error_code":40403,"message":"Schema not found"}'), { kind: 'unknown' }],
    [
      'no Avro',
      json({ schema: '{"type":"object"}', schemaType: 'JSON' }),
      { kind: 'unusable', detail: 'it is not an Avro schema' },
    ],
    [
      'a kind from the future',
      json({ schema: 'x', schemaType: 'THRIFT' }),
      { kind: 'unusable', detail: 'invalid schemaType' },
    ],
    ['Avro that does not compile', json({ schema: '{"type":"record","name":"E"}' }), { kind: 'unusable' }],
    ['no JSON', json({ schema: '{' }), { kind: 'unusable' }],
    ['something else altogether', answering(200, '<html></html>'), { kind: 'unusable' }],
  ])('%s', async (_name, answer, found) => {
    const registry = await registryAt(answer)
    expect(await registry.find(7)).toMatchObject(found)
  })

  it('is asked for under the path of the URL, with the credentials', async () => {
    const asked: unknown[] = []
    const auth = { username: new Secret('ada'), password: new Secret('pä:ss') }
    const registry = await registryAt(
      (request, response) => {
        asked.push([request.url, request.headers.authorization])
        json({ schema: '"string"' })(request, response)
      },
      5_000,
      auth,
    )
    expect(registry.url).toMatch(/\/base$/)
    expect(await registry.find(7)).toMatchObject({ kind: 'schema' })
    expect(asked).toEqual([['/base/schemas/ids/7', `Basic ${Buffer.from('ada:pä:ss').toString('base64')}`]])
  })
})

describe('a registry that cannot be used', () => {
  it.each([
    ['it is overloaded', answering(503, '{"message":"later"}'), 'later'],
    ['it refuses our credentials', answering(401, '{"message":"Unauthorized"}'), 'Unauthorized'],
    ['it is none', answering(200, '<html></html>'), 'what answers there is no schema registry'],
  ])('%s', async (_name, answer, reason) => {
    const registry = await registryAt(answer)
    const asking = registry.lookUp('hookline.events-value', '{}')
    await expect(asking).rejects.toThrow(RegistryUnavailable)
    await expect(asking).rejects.toThrow(`the schema registry at ${registry.url} cannot be used: `)
    await expect(asking).rejects.toThrow(reason)
  })

  it('it is not there', async () => {
    const registry = createRegistry({ url: 'http://127.0.0.1:1', auth: undefined })
    await expect(registry.find(1)).rejects.toThrow(RegistryUnavailable)
    await expect(registry.find(1)).rejects.toThrow(/cannot be used: connect ECONNREFUSED/)
  })

  it('it takes the request and does not answer', async () => {
    const registry = await registryAt(() => {}, 100)
    await expect(registry.find(1)).rejects.toThrow(/cannot be used: no answer within 100 ms/)
  })

  it('a short fault while a schema is fetched is over before the caller hears of it', async () => {
    let faults = 1
    const registry = await registryAt((request, response) =>
      (faults-- > 0 ? answering(500, '{}') : json({ schema: '"string"' }))(request, response),
    )
    expect(await registry.find(3)).toMatchObject({ kind: 'schema' })
  })
})

describe('over TLS', () => {
  it('trusts the certificates of registry.caFile, and without them refuses the registry', async () => {
    const authority = createAuthority()
    const { cert, key } = authority.issue({ names: ['127.0.0.1'] })
    const listening = createTlsServer({ cert, key }, json({ schema: '"string"' }))
    server = listening
    await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(listening.address() as AddressInfo).port}`
    const trusting = createRegistry({ url, auth: undefined, ca: authority.cert })
    expect(await trusting.find(7)).toMatchObject({ kind: 'schema' })
    await expect(createRegistry({ url, auth: undefined }).find(7)).rejects.toThrow(RegistryUnavailable)
  })
})
