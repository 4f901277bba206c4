import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createRegistry, type Registry, RegistryUnavailable } from '../../../../src/adapters/avro/schema-registry.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { createAuthority } from '../../../support/network/certificates.ts'

/** So long that no call reaches it on a slow machine. */
const longLimitMs = 60_000

/** A server with responses that a real registry rarely gives. */
let server: Server | undefined
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise(resolve => (server === undefined ? resolve(undefined) : server.close(resolve)))
  server = undefined
})

async function registryAt(
  answer: RequestListener,
  limitMs = longLimitMs,
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

describe('a look-up by id', () => {
  it.each([
    ['an unknown id', answering(404, '{"error_code":40403,"message":"Schema not found"}'), { kind: 'unknown' }],
    [
      'a schema that is not Avro',
      json({ schema: '{"type":"object"}', schemaType: 'JSON' }),
      { kind: 'unusable', detail: 'it is not an Avro schema' },
    ],
    [
      'an unknown schema type',
      json({ schema: 'x', schemaType: 'THRIFT' }),
      { kind: 'unusable', detail: 'it is not an Avro schema' },
    ],
    ['an invalid Avro schema', json({ schema: '{"type":"record","name":"E"}' }), { kind: 'unusable' }],
    ['a schema that is not JSON', json({ schema: '{' }), { kind: 'unusable' }],
  ])('%s', async (_name, answer, found) => {
    const registry = await registryAt(answer)
    expect(await registry.findById(7)).toMatchObject(found)
  })

  it.each([400, 404, 405, 410, 422])('a schema id that the registry rejects with status %s', async status => {
    const registry = await registryAt(answering(status, '{"error_code":1,"message":"Invalid schema id"}'))
    expect(await registry.findById(2_147_483_647)).toEqual({ kind: 'unknown' })
  })

  it.each([401, 403, 407, 408, 429, 500, 503])('status %s says nothing about the schema id', async status => {
    const registry = await registryAt(answering(status, '{"message":"not now"}'))
    await expect(registry.findById(7)).rejects.toThrow(RegistryUnavailable)
    await expect(registry.findById(7)).rejects.toThrow(/cannot be used: not now$/)
  })

  it.each([
    ['not JSON', answering(200, '<html></html>')],
    ['JSON without a schema', json({ status: 'starting' })],
    ['JSON with a schema that is not text', json({ schema: { type: 'string' } })],
    ['empty', answering(204, '')],
  ])('a successful response that is %s says nothing about the schema id', async (_name, answer) => {
    const asking = (await registryAt(answer)).findById(7)
    await expect(asking).rejects.toThrow(RegistryUnavailable)
    await expect(asking).rejects.toMatchObject({ isTransient: true })
  })

  it('reads the schemas to which the schema refers, each once', async () => {
    const named = (name: string, type: string, ...references: [string, number][]) => ({
      schema: JSON.stringify({ type: 'record', name, fields: [{ name: 'f', type }] }),
      references: references.map(([subject, version]) => ({ name: subject, subject, version })),
    })
    const schemas: Record<string, object> = {
      '/base/schemas/ids/7': named('a.Top', 'a.Middle', ['middle', 2], ['b/1', 1]),
      '/base/subjects/middle/versions/2': named('a.Middle', 'a.Low', ['b/1', 1]),
      '/base/subjects/b%2F1/versions/1': named('a.Low', 'string'),
    }
    const asked: unknown[] = []
    const registry = await registryAt((request, response) => {
      asked.push(request.url)
      const found = schemas[request.url ?? '']
      return (found === undefined ? answering(404, '{"message":"no"}') : json(found))(request, response)
    })
    const found = await registry.findById(7)
    expect(found.kind === 'schema' && found.type.toBuffer({ f: { f: { f: 'x' } } }).toString('hex')).toBe('0278')
    expect(asked).toEqual(Object.keys(schemas))
    delete schemas['/base/subjects/middle/versions/2']
    expect(await registry.findById(7)).toEqual({ kind: 'unknown' })
  })

  it.each([400, 404, 410])('a status %s that is not from a registry says nothing about schemas', async status => {
    const registry = await registryAt(answering(status, '<html>default backend</html>'))
    const notFromRegistry = /status \d+: <html>.*; this response is not from a schema registry: check registry\.url/
    for (const asking of [registry.findById(7), registry.lookUp('events-value', '"string"')]) {
      await expect(asking).rejects.toThrow(notFromRegistry)
      await expect(asking).rejects.toMatchObject({ name: 'RegistryUnavailable', isTransient: true })
    }
  })

  it('uses the path of the URL and the credentials', async () => {
    const asked: unknown[] = []
    const auth = { username: new Secret('ada'), password: new Secret('pä:ss') }
    const registry = await registryAt(
      (request, response) => {
        asked.push([request.url, request.headers.authorization])
        json({ schema: '"string"' })(request, response)
      },
      longLimitMs,
      auth,
    )
    expect(registry.url).toMatch(/\/base$/)
    expect(await registry.findById(7)).toMatchObject({ kind: 'schema' })
    expect(asked).toEqual([['/base/schemas/ids/7', `Basic ${Buffer.from('ada:pä:ss').toString('base64')}`]])
  })
})

describe('a registry that cannot be used', () => {
  it.each([
    ['it is overloaded', answering(503, '{"message":"later"}'), 'later'],
    ['it rejects the credentials', answering(401, '{"message":"Unauthorized"}'), 'Unauthorized'],
    [
      'the server is not a registry',
      answering(200, '<html></html>'),
      'the server at this URL is not a schema registry',
    ],
  ])('%s', async (_name, answer, reason) => {
    const registry = await registryAt(answer)
    const asking = registry.lookUp('hookline.events-value', '{}')
    await expect(asking).rejects.toThrow(RegistryUnavailable)
    await expect(asking).rejects.toThrow(`the schema registry at ${registry.url} cannot be used: `)
    await expect(asking).rejects.toThrow(reason)
  })

  it('no server listens', async () => {
    const registry = createRegistry({ url: 'http://127.0.0.1:1', auth: undefined }, longLimitMs)
    await expect(registry.findById(1)).rejects.toThrow(RegistryUnavailable)
    await expect(registry.findById(1)).rejects.toThrow(/cannot be used: connect ECONNREFUSED/)
  })

  it('it does not respond', async () => {
    const registry = await registryAt(() => {}, 100)
    await expect(registry.findById(1)).rejects.toThrow(/cannot be used: no response within 100 ms/)
  })

  it('it closes the connection in the middle of a response', async () => {
    const registry = await registryAt((_request, response) => {
      response.writeHead(200, { 'content-length': 5_000 }).write('{"schema":"')
      setImmediate(() => response.destroy())
    })
    const asking = registry.findById(1)
    await expect(asking).rejects.toThrow(/cannot be used: aborted/)
    await expect(asking).rejects.toMatchObject({ isTransient: true })
    await expect(registry.lookUp('s', '"string"')).rejects.toThrow(/cannot be used: aborted/)
  })

  it('it does not complete a response', async () => {
    const registry = await registryAt((_request, response) => void response.writeHead(200).write('{'), 100)
    await expect(registry.findById(1)).rejects.toThrow(/cannot be used: no response within 100 ms/)
  })

  it('it switches to another protocol', async () => {
    const registry = await registryAt(({ socket }) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    })
    await expect(registry.findById(1)).rejects.toThrow(/cannot be used: the connection closed before the response/)
  })

  it('its response does not end', async () => {
    const piece = Buffer.alloc(1_048_576, ' ')
    const registry = await registryAt((_request, response) => {
      const send = (): void => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', send)
      send()
    })
    await expect(registry.findById(1)).rejects.toThrow(/cannot be used: the response has more than 16777216 characters/)
  })

  it('it responds that it is overloaded until the time limit', async () => {
    const timeLimit = new AbortController()
    jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(timeLimit.signal)
    const overloaded = answering(503, '{"message":"leader not known"}')
    const responses: RequestListener[] = [overloaded, () => timeLimit.abort()]
    const registry = await registryAt((request, response) => responses.shift()?.(request, response))
    await expect(registry.findById(1)).rejects.toThrow(/cannot be used: leader not known/)
  })

  it.each([
    ['compatibility', 'compatibilityLevel'],
    ['checkCompatibility', 'is_compatible'],
  ] as const)('a proxy responds to %s', async (method, field) => {
    const registry = await registryAt(answering(200, '<html>'))
    const asking = registry[method]('s', '"string"')
    await expect(asking).rejects.toThrow(`no "${field}" in the response: <html>`)
    await expect(asking).rejects.toMatchObject({ isTransient: true })
  })

  it.each(['null', '[]', '1', '""', ''])('it responds 503 with the content %j', async content => {
    const registry = await registryAt(answering(503, content))
    await expect(registry.findById(1)).rejects.toThrow(/cannot be used: status 503/)
  })

  it('a short failure is hidden by a retry', async () => {
    let faults = 1
    const registry = await registryAt((request, response) =>
      (faults-- > 0 ? answering(500, '{}') : json({ schema: '"string"' }))(request, response),
    )
    expect(await registry.findById(3)).toMatchObject({ kind: 'schema' })
  })
})

describe('over TLS', () => {
  it('trusts the certificates of registry.caFile and no other private ones', async () => {
    const authority = createAuthority()
    const { cert, key } = authority.issue({ names: ['127.0.0.1'] })
    const listening = createTlsServer({ cert, key }, json({ schema: '"string"' }))
    server = listening
    await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(listening.address() as AddressInfo).port}`
    const trusting = createRegistry({ url, auth: undefined, ca: authority.cert }, longLimitMs)
    expect(await trusting.findById(7)).toMatchObject({ kind: 'schema' })
    await expect(createRegistry({ url, auth: undefined }).findById(7)).rejects.toThrow(RegistryUnavailable)
  })
})

describe('an unavailable registry is transient, so a start may wait for it,', () => {
  it.each([
    ['when it responds that it is overloaded', answering(503, '{"message":"overloaded"}'), true],
    ['when it limits the requests', answering(429, '{"message":"slower"}'), true],
    ['when it did not get the request in time', answering(408, '{"message":"late"}'), true],
    ['when it closes the connection', (({ socket }) => void socket.destroy()) as RequestListener, true],
    ['but not when it rejects the credentials', answering(401, '{"message":"Unauthorized"}'), false],
    ['but not when it rejects the request', answering(400, '{"message":"Bad Request"}'), false],
    ['but not when the URL is of another server', json({ hello: 'world' }), false],
  ])('%s', async (_, answer, isTransient) => {
    const registry = await registryAt(answer)
    const error = await registry.lookUp('s', '"string"').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RegistryUnavailable)
    expect((error as RegistryUnavailable).isTransient).toBe(isTransient)
  })
})
