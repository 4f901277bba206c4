import { afterEach, describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createTokenClient } from '../../../src/adapters/webhook/token-client.ts'
import { classify, type Outcome } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { tokenRequest } from '../../../src/core/oauth2/token-request.ts'
import { parseTokenResponse } from '../../../src/core/oauth2/token-response.ts'
import { durationMs } from '../../../src/core/time.ts'
import type { TokenAnswer, TokenClient } from '../../../src/core/webhook-ports.ts'
import { oauth2Of } from '../../support/builders.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { createAuthority, selfSigned } from '../../support/network/certificates.ts'
import { refusing } from '../../support/network/connect-proxy.ts'
import { afterRequest, answer, answering, type Peer, type Script } from '../../support/webhook/scripted-tcp-server.ts'
import {
  loopbackOnly,
  proxyServer,
  receiver,
  scriptedResolver,
  soon,
  through,
} from './tested-transports-and-servers.ts'

const closing: TokenClient[] = []
afterEach(() => {
  for (const client of closing.splice(0)) client.close()
})

type Options = Partial<Parameters<typeof createTokenClient>[0]>

function clientOf(options: Options = {}): TokenClient {
  const usual = { network: () => loopbackOnly, timeout: durationMs(30_000), clock: processClock }
  const client = createTokenClient({ ...usual, ...options })
  closing.push(client)
  return client
}

/** Sends a token request, which must end only once, and not during the call of `post`. */
function ask(tokenUrl: string, options: Options = {}): Promise<TokenAnswer> {
  return new Promise((resolve, reject) => {
    let isPosting = true
    let ended = 0
    clientOf(options).post(tokenRequest(oauth2Of({ tokenUrl }), 'Hookline'), result => {
      if (isPosting || ++ended > 1) reject(new Error('ended within post, or twice'))
      else resolve(result)
    })
    isPosting = false
  })
}

const token = '{"access_token":"t0ken","token_type":"Bearer","expires_in":60}'
const json = { 'Content-Type': 'application/json' }
const issuing = answering(answer(200, json, token))

describe('a token request', () => {
  it('is a POST with the form, and its answer has the body', async () => {
    const server = await receiver(issuing)
    expect(await ask(server.url('/token?tenant=7'))).toEqual({
      kind: 'answered',
      status: 200,
      retryAfter: undefined,
      body: token,
    })
    const [request] = server.requests
    expect(request).toMatchObject({ method: 'POST', path: '/token?tenant=7', body: 'grant_type=client_credentials' })
    expect(Object.fromEntries(request!.headers)).toMatchObject({
      Authorization: `Basic ${Buffer.from('hookline:client-secret-of-crm').toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': '29',
    })
  })

  it('follows no redirect', async () => {
    const target = await receiver(issuing)
    const server = await receiver(answering(answer(307, { Location: target.url() })))
    expect(await ask(server.url())).toMatchObject({ kind: 'answered', status: 307 })
    expect(target.connections()).toBe(0)
  })

  it('passes on Retry-After', async () => {
    const server = await receiver(answering(answer(503, { 'Retry-After': '9' })))
    expect(await ask(server.url())).toMatchObject({ status: 503, retryAfter: '9' })
  })

  it('reads a body that arrives in pieces', async () => {
    const server = await receiver(
      afterRequest(async peer => {
        peer.send(`HTTP/1.1 200 OK\r\nContent-Length: ${token.length}\r\n\r\n${token.slice(0, 20)}`)
        await new Promise(resolve => setImmediate(resolve))
        peer.send(token.slice(20))
      }),
    )
    expect(await ask(server.url())).toMatchObject({ body: token })
  })
})

describe('a response that cannot be used', () => {
  it.each<[string, Script, Outcome]>([
    ['is larger than 64 KiB', answering(answer(200, json, 'x'.repeat(65_537))), 'bad_response'],
    ['has too large headers', answering(answer(200, { 'X-A': 'x'.repeat(20_000) }, token)), 'bad_response'],
    ['is not HTTP', answering('220 smtp.example.com ESMTP\r\n'), 'bad_response'],
    ['switches protocols', answering(answer(101, { Connection: 'Upgrade', Upgrade: 'h2c' })), 'bad_response'],
    [
      'ends within its body',
      afterRequest(peer => {
        peer.send('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"access')
        peer.end()
      }),
      'reset',
    ],
    ['does not begin', afterRequest(peer => peer.reset()), 'reset'],
    ['is HTML', answering(answer(200, {}, '<html>')), 'bad_response'],
    ['is compressed', answering(answer(200, { 'Content-Encoding': 'gzip' }, '\x1f\x8b')), 'bad_response'],
  ])('%s', async (_, script, outcome) => {
    const server = await receiver(script)
    const result = parseTokenResponse(await ask(server.url()))
    expect(result).toMatchObject({ kind: 'failed', failure: { outcome } })
    expect(JSON.stringify(result)).not.toMatch(/client-secret-of-crm|t0ken/)
  })

  it.each<[string, Script, string]>([
    ['does not begin', () => undefined, 'timed out after 200ms while waiting for the response headers'],
    [
      'does not end',
      afterRequest(peer => peer.send('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{')),
      'timed out after 200ms while reading the response body',
    ],
  ])('%s in time', async (_, script, detail) => {
    const [server, other] = [await receiver(script), await receiver(issuing)]
    const clock = new ManualClock()
    const asked = ask(server.url(), { timeout: durationMs(200), clock })
    await server.received(1)
    // The client reads these responses after the one that arrived before.
    for (let fence = 0; fence < 2; fence++) await ask(other.url())
    await clock.advance(200)
    const result = await asked
    expect(result).toMatchObject({ kind: 'failed', phase: 'deadline', code: 'ETIMEDOUT', detail })
  })
})

describe('the network rules for webhooks', () => {
  it('apply to IP addresses', async () => {
    const server = await receiver(issuing)
    const result = await ask(server.url(), { network: () => ({ ...loopbackOnly, allow: [] }) })
    expect(result).toMatchObject({ kind: 'failed', phase: 'address', code: 'ERR_FORBIDDEN_ADDRESS' })
    expect(server.connections()).toBe(0)
  })

  it('apply to the addresses of a host name', async () => {
    const { resolver } = scriptedResolver(() => [{ address: '169.254.169.254', family: 4 }])
    expect(await ask('http://login.example.com/token', { resolver })).toMatchObject({
      phase: 'address',
      code: 'ERR_FORBIDDEN_ADDRESS',
    })
  })

  it('apply to ports', async () => {
    const server = await receiver(issuing)
    const result = await ask(server.url(), { network: () => ({ ...loopbackOnly, ports: [443] }) })
    expect(result).toMatchObject({ phase: 'address', code: 'ERR_FORBIDDEN_PORT' })
  })

  it('follow a change of the settings', async () => {
    const server = await receiver(issuing)
    let network = { ...loopbackOnly, allow: [] as readonly string[] }
    const client = clientOf({ network: () => network })
    const post = (): Promise<TokenAnswer> =>
      new Promise(resolve => client.post(tokenRequest(oauth2Of({ tokenUrl: server.url() }), 'Hookline'), resolve))
    expect(await post()).toMatchObject({ phase: 'address' })
    network = { ...loopbackOnly }
    expect(await post()).toMatchObject({ status: 200 })
  })

  it('apply to certificates', async () => {
    const authority = createAuthority()
    const network = () => ({ ...loopbackOnly, ca: authority.cert })
    const trusted = await receiver(issuing, authority.issue())
    expect(await ask(trusted.url(), { network })).toMatchObject({ status: 200 })
    const stranger = await receiver(issuing, selfSigned())
    const result = await ask(stranger.url(), { network })
    expect(result.kind === 'failed' && classify(result)).toBe('tls_untrusted')
    expect(stranger.bytes()).toBe(0)
  })

  it('a server that does not exist', async () => {
    expect(await ask('http://login.invalid/token')).toMatchObject({ kind: 'failed', phase: 'dns' })
  })
})

it.each<[string, Script]>([
  ['before the response', () => undefined],
  ['within the body', afterRequest(peer => peer.send('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{'))],
])('close ends a request in progress without a result: %s', async (_, script) => {
  let peer: Peer | undefined
  const server = await receiver(accepted => {
    peer = accepted
    return script(accepted)
  })
  const client = clientOf()
  const results: TokenAnswer[] = []
  client.post(tokenRequest(oauth2Of({ tokenUrl: server.url() }), 'Hookline'), result => void results.push(result))
  await server.received(1)
  await new Promise(resolve => setImmediate(resolve))
  client.close()
  await peer?.closed
  expect(results).toEqual([])
})

describe('a token request through the egress proxy', () => {
  const authority = createAuthority()
  it.each([
    ['http', undefined],
    ['https', authority.issue()],
  ] as const)('%s: uses a tunnel', async (_, security) => {
    const proxy = await proxyServer()
    const server = await receiver(issuing, security)
    const network = through({ ...loopbackOnly, ca: authority.cert }, proxy)
    expect(await ask(server.url(), { network: () => network })).toMatchObject({ kind: 'answered', status: 200 })
    expect(proxy.requests).toHaveLength(1)
  })

  it('fails with the phase proxy when the proxy refuses', async () => {
    const proxy = await proxyServer({ intercept: () => refusing(407) })
    const server = await receiver(issuing)
    const network = through(loopbackOnly, proxy)
    expect(await ask(server.url(), { network: () => network })).toMatchObject({ kind: 'failed', phase: 'proxy' })
    expect(server.requests).toHaveLength(0)
  })

  it.each([
    ['its deadline', 200],
    ['close', 60_000],
  ])('closes the connection to a proxy that does not respond: at %s', async (_, timeoutMs) => {
    const askedOrEnded = Promise.withResolvers<void>()
    const proxy = await proxyServer({ intercept: () => () => askedOrEnded.resolve() })
    const network = through(loopbackOnly, proxy)
    const client = clientOf({ network: () => network, timeout: durationMs(timeoutMs) })
    client.post(tokenRequest(oauth2Of({ tokenUrl: 'https://127.0.0.1/token' }), 'Hookline'), () =>
      askedOrEnded.resolve(),
    )
    await askedOrEnded.promise
    if (timeoutMs > 1_000) client.close()
    await soon(proxy.idle())
  })
})
