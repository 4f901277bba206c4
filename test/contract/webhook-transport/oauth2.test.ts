import type { IncomingMessage } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createTokenClient } from '../../../src/adapters/webhook/token-client.ts'
import { classify } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import type { Clock } from '../../../src/core/ports.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { OAuth2Settings } from '../../../src/core/settings/settings.ts'
import { durationMs } from '../../../src/core/time.ts'
import type { CallResult } from '../../../src/core/webhook-ports.ts'
import { createAuthorize } from '../../../src/services/dispatcher/authorized-transport.ts'
import { oauth2Of } from '../../support/builders.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { HttpEndpoint } from '../../support/network/http-endpoint.ts'
import { countingMetrics } from '../../support/telemetry/counting-metrics.ts'
import { RecordingLogger } from '../../support/telemetry/recording-logger.ts'
import { TokenServer } from '../../support/webhook/token-server.ts'
import {
  adapters,
  answered,
  body,
  type CreateTransport,
  caller,
  headers,
  loopbackOnly,
} from './tested-transports-and-servers.ts'

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const authority = createAuthority()
const secret = 'p@ss: w%rd+ü'

interface Options {
  readonly settings?: Partial<OAuth2Settings>
  readonly timeoutMs?: number
  /** By default, the time of the process, in milliseconds. */
  readonly monotonic?: () => number
  /** By default, the endpoint accepts requests with a valid token. */
  readonly accepts?: (request: IncomingMessage) => boolean
}

async function setUp(create: CreateTransport, options: Options = {}) {
  const { settings = {}, timeoutMs = 30_000, monotonic = processClock.monotonic, accepts } = options
  const tls = authority.issue()
  const tokens = new TokenServer({ id: 'crm:hookline', secret }, tls)
  const requests: IncomingMessage[] = []
  const endpoint = new HttpEndpoint(async (request, response) => {
    requests.push(request)
    request.resume()
    response.writeHead((accepts ?? (given => tokens.accepts(given)))(request) ? 204 : 401).end()
  }, tls)
  await tokens.start()
  await endpoint.start()
  const network = { ...loopbackOnly, ca: authority.cert }
  const { transport } = caller(create, { network, timeoutMs })
  const client = createTokenClient({ network: () => network, timeout: durationMs(10_000), clock: processClock })
  closing.push(
    () => client.close(),
    () => endpoint.close(),
    () => tokens.close(),
  )
  let ahead = 0
  const clock: Clock = { ...processClock, monotonic: () => monotonic() + ahead }
  const logger = new RecordingLogger()
  const counts = new Map<string, number>()
  const authorize = createAuthorize({
    ...{ transport, client, clock, logger, timeout: durationMs(timeoutMs) },
    metrics: countingMetrics(counts),
    userAgent: () => 'Hookline',
  })
  const oauth2 = oauth2Of({
    tokenUrl: tokens.url,
    clientId: 'crm:hookline',
    clientSecret: new Secret(secret),
    ...settings,
  })
  const authorized = authorize({ id: 'crm', auth: { oauth2 } }, undefined)!
  const post = (): Promise<CallResult> =>
    new Promise(resolve => authorized.post({ url: `${endpoint.url}/hook`, headers, body }, resolve))
  const pass = (ms: number): void => {
    ahead += ms
  }
  return { tokens, requests, post, pass, logger, counts }
}

describe.each(adapters)('%s: OAuth2', (_, create) => {
  it.each(['basic', 'post'] as const)(
    'a client that authenticates with %s gets a token',
    async clientAuthentication => {
      const { tokens, post } = await setUp(create, { settings: { clientAuthentication, scopes: ['a', 'b'] } })
      expect(await post()).toEqual(answered(204))
      expect(tokens.scopes).toEqual(['a b'])
    },
  )

  it('concurrent first requests cause one token request', async () => {
    const { tokens, post, requests } = await setUp(create)
    const results = await Promise.all(Array.from({ length: 30 }, post))
    expect(results).toEqual(Array(30).fill(answered(204)))
    expect(tokens.issued).toHaveLength(1)
    expect(requests).toHaveLength(30)
  })

  it('an expired token is replaced', async () => {
    const { tokens, post, pass, requests } = await setUp(create)
    tokens.lifetime = 60
    await post()
    pass(60_000)
    tokens.revokeAll()
    expect(await post()).toEqual(answered(204))
    expect(tokens.issued).toHaveLength(2)
    expect(requests).toHaveLength(2)
  })

  it('a revoked token is replaced within the request', async () => {
    const { tokens, post, requests } = await setUp(create)
    await post()
    tokens.revokeAll()
    expect(await post()).toEqual(answered(204))
    expect(tokens.issued).toHaveLength(2)
    expect(requests.map(({ headers: { authorization } }) => authorization)).toEqual([
      'Bearer kept-secret-token-1',
      'Bearer kept-secret-token-1',
      'Bearer kept-secret-token-2',
    ])
  })

  it('an endpoint that refuses every token gets two requests, and the 401 is the result after two minutes', async () => {
    const { tokens, post, pass, requests } = await setUp(create, { accepts: () => false })
    expect(await post()).toMatchObject({ kind: 'failed', phase: 'auth', code: 'http_4xx' })
    expect(tokens.issued).toHaveLength(2)
    expect(requests).toHaveLength(2)
    pass(120_000)
    expect(await post()).toEqual(answered(401))
    expect(requests).toHaveLength(4)
  })

  it('a slow authorization server ends the request with auth at the time limit', async () => {
    const { tokens, post, requests } = await setUp(create, { timeoutMs: 200 })
    const release = tokens.hold()
    const result = await post()
    release()
    expect(result).toMatchObject({ kind: 'failed', phase: 'auth', code: 'timeout' })
    expect(classify(result)).toBe('auth')
    expect(requests).toEqual([])
  })

  it.each<[string, (tokens: TokenServer) => Promise<void> | void, string]>([
    ['is down', tokens => tokens.close(), 'connect'],
    [
      'responds with 503',
      tokens => {
        tokens.isDown = true
      },
      'http_5xx',
    ],
  ])('an authorization server that %s gets one request for many deliveries', async (_case, breakIt, code) => {
    const { tokens, post, requests, counts } = await setUp(create)
    await breakIt(tokens)
    const results = await Promise.all(Array.from({ length: 30 }, post))
    for (const result of results) expect(result).toMatchObject({ kind: 'failed', phase: 'auth', code })
    expect(counts.get(`tokenRequests{crm,${code}}`)).toBe(1)
    expect(requests).toEqual([])
    await tokens.start().catch(() => undefined)
  })

  it('after the backoff, the authorization server is asked again', async () => {
    // The backoff is only 1 s, so its time must not pass by itself.
    const { tokens, post, pass } = await setUp(create, { monotonic: () => 0 })
    tokens.isDown = true
    await post()
    tokens.isDown = false
    expect(await post()).toMatchObject({ phase: 'auth' })
    pass(1_000)
    expect(await post()).toEqual(answered(204))
  })

  it('a wrong secret is an auth failure, and no log line or result repeats it', async () => {
    const wrong = 'not-the-secret'
    const { post, logger } = await setUp(create, { settings: { clientSecret: new Secret(wrong) } })
    const result = await post()
    expect(result).toEqual({
      kind: 'failed',
      phase: 'auth',
      code: 'http_4xx',
      detail: 'the token endpoint responded with 401 invalid_client',
    })
    expect(logger.lines).toHaveLength(1)
    expect(JSON.stringify([result, logger.lines])).not.toContain(wrong)
  })
})
