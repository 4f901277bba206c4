import type { TLSSocket } from 'node:tls'
import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import type { Resolver } from '../../../src/adapters/webhook/dns-resolver.ts'
import { createEndpointDialer, type EndpointDialer } from '../../../src/adapters/webhook/doctor-endpoint-probe.ts'
import type { Dialled } from '../../../src/core/doctor/endpoint-and-http-client.ts'
import { tlsIdentityOf } from '../../../src/core/network/tls-identity.ts'
import type { Clock } from '../../../src/core/ports.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { NetworkSettings } from '../../../src/core/settings/settings.ts'
import { durationMs } from '../../../src/core/time.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { createAuthority, type Leaf, selfSigned } from '../../support/network/certificates.ts'
import { type ConnectProxy, refusing, startConnectProxy } from '../../support/network/connect-proxy.ts'
import { answer, answering, type Script, startScriptedServer } from '../../support/webhook/scripted-tcp-server.ts'

import { through } from './tested-transports-and-servers.ts'

const closing = closingAfterEach()
const authority = createAuthority()
const dayMs = 86_400_000
const never = new Promise<never>(() => {})

/**
 * `hooks.test` is this machine, and `inside.test` is another machine in the same network.
 * `hangs.test` is never resolved.
 */
const names: Readonly<Record<string, readonly string[]>> = {
  'hooks.test': ['127.0.0.1'],
  'hooks.test.': ['127.0.0.1'],
  'inside.test': ['10.0.0.7'],
}
const resolver: Resolver = {
  close: () => {},
  resolve: async name => {
    const addresses = name === 'hangs.test' ? await never : names[name]
    if (addresses === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    return addresses.map(address => ({ address, family: 4 }))
  },
}

interface Timing {
  /** Default: 30 s. */
  readonly timeoutMs?: number
  readonly clock?: Clock
}

function dial(url: string, timing?: Timing): Promise<Dialled> {
  return examiner({ allow: ['127.0.0.0/8'], ports: undefined, ca: authority.cert }, timing).dial(new URL(url))
}

const examiner = (
  network: NetworkSettings,
  { timeoutMs = 30_000, clock = processClock }: Timing = {},
): EndpointDialer => createEndpointDialer({ network, timeout: durationMs(timeoutMs), clock, resolver })

function dialThrough(proxy: Pick<ConnectProxy, 'url'>, url: string, timing?: Timing): Promise<Dialled> {
  const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: authority.cert }
  return examiner(through(network, proxy), timing).dial(new URL(url))
}

async function serving(script: Script, leaf?: Leaf) {
  return closing(await startScriptedServer(script, leaf && { cert: leaf.cert, key: leaf.key }))
}

describe('connects to an endpoint as a delivery does, and sends nothing', () => {
  it('over TCP', async () => {
    const receiver = await serving(answering(answer(200)))
    expect(await dial(receiver.url('/', 'hooks.test'))).toEqual({
      ...{ kind: 'connected', address: '127.0.0.1', tls: undefined },
      tookMs: expect.any(Number),
    })
    expect(receiver.bytes()).toBe(0)
  })

  it('over TLS, with a certificate of a configured authority, and reports its expiry', async () => {
    const receiver = await serving(answering(answer(200)), authority.issue({ names: ['hooks.test'], validTo: 20 }))
    const dialled = await dial(receiver.url('/', 'hooks.test'))
    expect(dialled).toMatchObject({ kind: 'connected', tls: { protocol: 'TLSv1.3' } })
    const { goodUntil } = (dialled as Dialled & { kind: 'connected' }).tls!
    expect(Math.round((goodUntil - Date.now()) / dayMs)).toBe(20)
    expect(receiver.bytes()).toBe(0)
  })

  it('over TLS, and sends the host name (SNI) without its final dot', async () => {
    const asked: string[] = []
    const security = {
      ...authority.issue({ names: ['hooks.test'] }),
      SNICallback: (host: string, done: (error: Error | null) => void) => {
        asked.push(host)
        done(null)
      },
    }
    const receiver = closing(await startScriptedServer(answering(answer(200)), security))
    expect(await dial(receiver.url('/', 'hooks.test.'))).toMatchObject({ kind: 'connected' })
    expect(asked).toEqual(['hooks.test'])
  })

  it.each<[string, () => Leaf, string]>([
    ['self-signed', () => selfSigned(['hooks.test']), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['expired', () => authority.issue({ names: ['hooks.test'], validFrom: -9, validTo: -1 }), 'CERT_HAS_EXPIRED'],
    ['for another name', () => authority.issue({ names: ['other.test'] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [
      'of an unknown authority',
      () => createAuthority('nobody').issue({ names: ['hooks.test'] }),
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
  ])('a certificate that is %s', async (_, leaf, code) => {
    const receiver = await serving(answering(answer(200)), leaf())
    expect(await dial(receiver.url('/', 'hooks.test'))).toMatchObject({ kind: 'failed', phase: 'tls', code })
  })

  it('reports an endpoint without TLS', async () => {
    const receiver = await serving(peer => peer.send('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await dial(`https://hooks.test:${receiver.port}/`)).toMatchObject({ kind: 'failed', phase: 'tls' })
  })

  it('reports a closed port', async () => {
    const receiver = await startScriptedServer(() => {})
    await receiver.close()
    expect(await dial(receiver.url('/', 'hooks.test'))).toMatchObject({ phase: 'connect', code: 'ECONNREFUSED' })
  })

  it.each([
    ['an unknown host name', 'http://nobody.test/', { phase: 'dns', code: 'ENOTFOUND' }],
    ['a name for a private address', 'https://inside.test/', { phase: 'address', code: 'ERR_FORBIDDEN_ADDRESS' }],
    ['a private address', 'http://10.0.0.7/', { phase: 'address', code: 'ERR_FORBIDDEN_ADDRESS' }],
    ['a private address of the other family', 'http://[fd00::7]/', { phase: 'address', code: 'ERR_FORBIDDEN_ADDRESS' }],
    ['a port that is not open', 'http://hooks.test:22/', { phase: 'address', code: 'ERR_FORBIDDEN_PORT' }],
  ])('%s', async (_, url, expected) => {
    expect(await dial(url)).toMatchObject({ kind: 'failed', ...expected })
  })

  it('ends at the deadline, and reports the step that took too long', async () => {
    const begun = Promise.withResolvers<void>()
    const mute = await serving(peer => void peer.socket.once('data', () => begun.resolve()))
    const timing = { timeoutMs: 1_000, clock: new ManualClock() }
    const dialling = Promise.all([
      dial('https://hangs.test/', timing),
      dial(`https://hooks.test:${mute.port}/`, timing),
    ])
    await begun.promise
    await timing.clock.advance(1_000)
    const [noName, noHandshake] = await dialling
    expect(noName).toMatchObject({ phase: 'deadline', detail: 'timed out after 1s while resolving the host name' })
    expect(noHandshake).toMatchObject({ phase: 'deadline', detail: 'timed out after 1s during the TLS handshake' })
  })
})

describe('connects to an endpoint through a proxy', () => {
  const leaf = authority.issue({ names: ['hooks.test'] })

  it.each([
    ['http', undefined],
    ['https', leaf],
  ])('over %s', async (_, own) => {
    const proxy = closing(await startConnectProxy())
    const receiver = await serving(answering(answer(200)), own)
    expect(await dialThrough(proxy, receiver.url('/', 'hooks.test'))).toMatchObject({
      kind: 'connected',
      address: 'the endpoint through the proxy',
      tls: own && { protocol: 'TLSv1.3' },
    })
    expect(proxy.requests.map(request => request.authority)).toEqual([`127.0.0.1:${receiver.port}`])
    await proxy.idle()
    expect(receiver.bytes()).toBe(0)
  })

  it('reports a refusal by the proxy, and an endpoint behind it that is down', async () => {
    const refuses = closing(await startConnectProxy({ intercept: () => refusing(407) }))
    const cannotReach = closing(await startConnectProxy({ intercept: () => refusing(503) }))
    expect(await dialThrough(refuses, 'https://hooks.test/')).toMatchObject({
      phase: 'proxy',
      code: 'ERR_PROXY_RESPONSE',
    })
    expect(await dialThrough(cannotReach, 'https://hooks.test/')).toMatchObject({ phase: 'connect' })
  })

  it('ends at the deadline', async () => {
    const mute = closing(await startConnectProxy({ intercept: () => () => {} }))
    const timing = { timeoutMs: 300, clock: new ManualClock() }
    const dialling = dialThrough(mute, 'https://hooks.test/', timing)
    await mute.received(1)
    await timing.clock.advance(300)
    expect(await dialling).toMatchObject({
      phase: 'deadline',
      detail: 'timed out after 300ms while waiting for the proxy to connect to the endpoint',
    })
    await mute.idle()
  })

  it('connects directly to a host of noProxy', async () => {
    const receiver = await serving(answering(answer(200)))
    const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: undefined }
    const direct = examiner(through(network, { url: 'http://proxy.invalid' }, { noProxy: ['.test'] }))
    expect(await direct.dial(new URL(receiver.url('/', 'hooks.test')))).toMatchObject({ address: '127.0.0.1' })
  })
})

describe('with a client certificate', () => {
  it('connects to an endpoint that requires one, and reports one that cannot be used', async () => {
    const clients = createAuthority('clients')
    const { cert, key } = clients.issue({ names: ['crm'], usage: 'client' })
    const seen: unknown[] = []
    const receiver = closing(
      await startScriptedServer(peer => void seen.push((peer.socket as TLSSocket).getPeerCertificate().subject.CN), {
        ...authority.issue({ names: ['hooks.test'] }),
        ...{ requestCert: true, rejectUnauthorized: true, ca: [clients.cert], maxVersion: 'TLSv1.2' },
      }),
    )
    const { dial: examine } = examiner({ allow: ['127.0.0.0/8'], ports: undefined, ca: authority.cert })
    const url = new URL(receiver.url('/', 'hooks.test'))
    expect(await examine(url)).toMatchObject({ kind: 'failed', phase: 'tls' })
    expect(await examine(url, tlsIdentityOf({ cert, key: new Secret(key), ca: undefined }))).toMatchObject({
      kind: 'connected',
    })
    expect(seen).toEqual(['crm'])
    const unusable = tlsIdentityOf({ cert, key: new Secret(authority.issue().key), ca: undefined })
    expect(await examine(url, unusable)).toMatchObject({
      phase: 'tls',
      code: 'ERR_OSSL_X509_KEY_VALUES_MISMATCH',
    })
  })
})
