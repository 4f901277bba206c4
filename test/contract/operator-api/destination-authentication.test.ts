import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createChosenTransport } from '../../../src/adapters/webhook/got-or-undici-transport.ts'
import { createTokenClient } from '../../../src/adapters/webhook/token-client.ts'
import { parseSigningKey } from '../../../src/core/signing/ed25519-signing-key.ts'
import { durationMs } from '../../../src/core/time.ts'
import { createAuthorize } from '../../../src/services/dispatcher/authorized-transport.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { type ConnectProxy, startConnectProxy } from '../../support/network/connect-proxy.ts'
import { type MemoryObjects, memoryObjects } from '../../support/operator/memory-objects.ts'
import { objectsApi } from '../../support/operator/memory-objects-api.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../../support/operator/send-operator-api-request.ts'
import { startOperator } from '../../support/operator/server.ts'
import { countingMetrics } from '../../support/telemetry/counting-metrics.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import { TokenServer } from '../../support/webhook/token-server.ts'

const closing = closingAfterEach()
const authority = createAuthority()
const clients = createAuthority('authority of clients')
const client = clients.issue({ names: ['crm'], usage: 'client' })
const signingKey = `whsk_${Buffer.alloc(32, 7).toString('base64')}`
const clientSecret = 'a-client-secret-of-crm'
const timeout = durationMs(5_000)

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The name in the client certificate of the request. */
  readonly client: string
}

let server: Awaited<ReturnType<typeof startOperator>>
let memory: MemoryObjects
let proxy: ConnectProxy
let tokens: TokenServer
let endpoint: string
const received: Received[] = []

beforeEach(async () => {
  received.length = 0
  tokens = new TokenServer({ id: 'crm', secret: clientSecret }, authority.issue())
  await tokens.start()
  closing(tokens)
  const strict = { ...authority.issue(), requestCert: true, rejectUnauthorized: true, ca: [clients.cert] }
  const receiver = createServer(strict, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { subject } = (request.socket as TLSSocket).getPeerCertificate()
    received.push({ headers: request.headers, body, client: String(subject.CN) })
    response.writeHead(tokens.accepts(request) ? 200 : 401).end(JSON.stringify(request.headers))
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  closing({ close: async () => void receiver.close() })
  endpoint = `https://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`
  proxy = await startConnectProxy()
  closing(proxy)

  memory = await memoryObjects(processClock)
  const network = {
    ...memory.merged().settings.network,
    ca: authority.cert,
    proxy: { url: proxy.url, credentials: undefined, noProxy: [], resolve: 'local' as const },
  }
  // On the manual clock, no time limit of a request expires.
  const clock = new ManualClock()
  const deps = { network: () => network, timeout, clock }
  const transport = await createChosenTransport('got', deps)
  closing(transport)
  const tokenClient = createTokenClient(deps)
  closing({ close: async () => tokenClient.close() })
  const authorize = createAuthorize({
    ...{ transport, client: tokenClient, clock, logger: silent, timeout },
    metrics: countingMetrics(new Map()),
    userAgent: () => 'Hookline',
  })
  server = await startOperator(new ScriptedOperatorApi(), {
    objects: await objectsApi({ memory, transport, authorize }),
  })
  closing({ close: () => server.stop() })
})

const ask = (line: string, body?: unknown, given = {}) => askObjects(server, line, body, given)
const document = () => ({
  sources: ['web'],
  signingKey,
  auth: { oauth2: { tokenUrl: tokens.url, clientId: 'crm', clientSecret } },
  tls: { clientCert: client.cert, clientKey: client.key },
  policy: { signing: 'ed25519', standardWebhooks: true, timeout: '2s', ratePerSecond: 5, maxConcurrency: 16 },
  filter: { types: ['track'], where: [{ path: 'properties.total', op: 'gte', value: 10 }] },
  lifecycle: { pauseKeepsWindow: true },
  webhooks: [{ url: endpoint }],
})
const inForce = () => memory.merged().settings.destinations.find(({ id }) => id === 'crm')

describe('a test message', () => {
  it('has the access token, the client certificate and the signature of its destination, through the proxy', async () => {
    expect((await ask('PUT /v1/destinations/crm', document())).status).toBe(201)
    const { status, body } = await ask('POST /v1/destinations/crm/test')
    expect([status, body.delivered, body.responses[0].status]).toEqual([200, true, 200])
    const [request] = received as [Received]
    expect(received).toHaveLength(1)
    expect(request.client).toBe('crm')
    expect(request.headers.authorization).toBe(`Bearer ${tokens.issued.at(-1)}`)
    const signature = String(request.headers['webhook-signature']).replace(/^v1a,/, '')
    const signed = `${request.headers['webhook-id']}.${request.headers['webhook-timestamp']}.${request.body}`
    const publicKey = createPublicKey(parseSigningKey(signingKey)!)
    expect(verify(null, Buffer.from(signed), publicKey, Buffer.from(signature, 'base64'))).toBe(true)
    const authorities = new Set(proxy.requests.map(each => each.authority))
    expect(authorities).toEqual(new Set([endpoint, tokens.url].map(url => new URL(url).host)))
    expect(body.responses[0].request.headers).toMatchObject({ Authorization: '***' })
    expect(JSON.parse(body.responses[0].responseBody.text)).toMatchObject({ authorization: 'Bearer ***' })
    expect(JSON.stringify(body)).not.toContain(tokens.issued.at(-1))
  })

  it('uses the client secret of the last change, and reports why there is no token', async () => {
    await ask('PUT /v1/destinations/crm', document())
    await ask('POST /v1/destinations/crm/test')
    const wrong = { auth: { oauth2: { clientSecret: 'another-client-secret' } } }
    expect((await ask('PATCH /v1/destinations/crm', wrong, { ifMatch: 1 })).status).toBe(200)
    const { body } = await ask('POST /v1/destinations/crm/test')
    expect(body).toMatchObject({ delivered: false, responses: [{ failure: { phase: 'auth' } }] })
    expect(received).toHaveLength(1)
  })
})

describe('the document of a destination', () => {
  const secrets = [signingKey, clientSecret, client.key]

  it('has masked secrets, and keeps them when it is written again', async () => {
    const created = await ask('PUT /v1/destinations/crm', document())
    expect(created.body.document).toMatchObject({
      ...{ signingKey: '***', auth: { oauth2: { clientId: 'crm', clientSecret: '***' } } },
      tls: { clientCert: client.cert, clientKey: '***' },
    })
    expect(Object.keys(created.body.fingerprints).sort()).toEqual([
      ...['auth.oauth2.clientSecret', 'signingKey', 'tls.clientKey', 'webhooks[0].url'],
    ])
    const again = { ...created.body.document, filter: { types: ['identify'] } }
    const replaced = await ask('PUT /v1/destinations/crm', again, { ifMatch: 1 })
    expect([replaced.status, replaced.body.changedFields]).toEqual([200, ['filter.types[0]', 'filter.where']])
    expect(inForce()?.signingKeys?.map(key => key.reveal())).toEqual([signingKey])
    expect(inForce()?.auth?.oauth2?.clientSecret.reveal()).toBe(clientSecret)
    expect(inForce()?.tlsIdentity?.key?.reveal()).toBe(client.key)
    const answers = JSON.stringify([created.body, replaced.body, (await ask('GET /v1/changes')).body])
    const stored = memory.log.records('hookline.config').map(({ value }) => String(value))
    for (const secret of secrets) {
      const text = JSON.stringify(secret).slice(1, -1)
      expect(answers).not.toContain(text)
      expect(stored.join()).not.toContain(text)
    }
  })

  it('can be patched key by key', async () => {
    await ask('PUT /v1/destinations/crm', document())
    const next = clients.issue({ names: ['next'], usage: 'client' })
    const patch = {
      tls: { clientCert: next.cert, clientKey: next.key, ca: authority.cert },
      policy: { ratePerSecond: null, timeout: '3s' },
      filter: null,
      lifecycle: { pauseKeepsWindow: false },
    }
    expect((await ask('PATCH /v1/destinations/crm', patch, { ifMatch: 1 })).status).toBe(200)
    expect(inForce()).toMatchObject({
      ...{ tlsIdentity: { cert: next.cert, ca: authority.cert }, lifecycle: { pauseKeepsWindow: false } },
      policy: { signing: 'ed25519', timeout: 3_000, maxConcurrency: 16 },
    })
    expect(inForce()?.policy).not.toHaveProperty('ratePerSecond')
    expect(inForce()?.filter).toBeUndefined()
    await ask('POST /v1/destinations/crm/test')
    expect(received.map(({ client: name }) => name)).toEqual(['next'])
  })

  it.each<[string, object]>([
    ['token endpoint', { auth: { oauth2: { tokenUrl: 'https://127.0.0.2/token' } } }],
    ['webhook', { webhooks: [{ url: 'https://127.0.0.2/hooks' }] }],
  ])('keeps the client secret only for the same hosts: a new %s needs it again', async (_, patch) => {
    const { body: created } = await ask('PUT /v1/destinations/crm', document())
    const refused = await ask('PATCH /v1/destinations/crm', patch, { ifMatch: 1 })
    const problem = { path: 'auth.oauth2.clientSecret', hint: 'write the client secret instead of the mask ***' }
    expect([refused.status, refused.body.problems]).toEqual([422, [expect.objectContaining(problem)]])
    const merged = { ...created.document.auth.oauth2, ...(patch as { auth?: { oauth2: object } }).auth?.oauth2 }
    const whole = { ...created.document, ...patch, auth: { oauth2: merged } }
    expect((await ask('PUT /v1/destinations/crm', whole, { ifMatch: 1 })).body.problems).toEqual(refused.body.problems)
    const complete = { ...patch, auth: { oauth2: { ...merged, clientSecret } } }
    expect((await ask('PATCH /v1/destinations/crm', complete, { ifMatch: 1 })).status).toBe(200)
  })

  it.each<[string, object, string, string]>([
    [
      'a key of another certificate',
      { tls: { clientKey: createAuthority('other').issue().key } },
      'tls.clientKey',
      'is not the key',
    ],
    ['a certificate without a key', { tls: { clientKey: null } }, 'tls.clientKey', 'is missing'],
    ['a name of a file', { tls: { caFile: 'ca.pem' } }, 'tls.caFile', 'names a file'],
    ['no signing key', { signingKey: null }, 'policy.signing', '"ed25519" requires a private key'],
    ['another kind of key', { signingKey: client.key }, 'signingKey', 'contains no Ed25519 private key'],
    ['no client secret', { auth: { oauth2: { clientSecret: null } } }, 'auth.oauth2.clientSecret', 'is missing'],
  ])('is refused with %s', async (_, patch, path, message) => {
    await ask('PUT /v1/destinations/crm', document())
    const { status, body } = await ask('PATCH /v1/destinations/crm', patch, { ifMatch: 1 })
    expect([status, body.problems.length]).toEqual([422, 1])
    expect(body.problems[0]).toMatchObject({ path, message: expect.stringContaining(message) })
  })
})
