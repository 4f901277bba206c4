import type { TLSSocket } from 'node:tls'
import { describe, expect, it } from '@jest/globals'
import { classify } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { type TlsIdentity, tlsIdentityOf } from '../../../src/core/network/tls-identity.ts'
import { Secret } from '../../../src/core/secret.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { createAuthority, type Leaf } from '../../support/network/certificates.ts'
import { afterRequest, answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import {
  adapters,
  answered,
  caller,
  loopbackOnly,
  proxyServer,
  receiver,
  soon,
  through,
} from './tested-transports-and-servers.ts'

const authority = createAuthority()
const clients = createAuthority('authority of clients')
const network = { ...loopbackOnly, ca: authority.cert }
const leaf = authority.issue()
const requiresCertificate = { ...leaf, requestCert: true, rejectUnauthorized: true, ca: [clients.cert] }

const clientNamed = (name: string): Leaf => clients.issue({ names: [name], usage: 'client' })
/**
 * Creates a TLS identity with the test's own CA. Without it, OpenSSL would parse all public CAs for
 * each identity.
 */
function identity({ cert, key }: Leaf): TlsIdentity {
  return tlsIdentityOf({ cert, key: new Secret(key), ca: authority.cert })
}
const crm = identity(clientNamed('crm'))
const erp = identity(clientNamed('erp'))

/** `seen` has the names in the client certificates. */
async function strictEndpoint(security = {}) {
  const seen: string[] = []
  const target = await receiver(
    async peer => {
      const socket = peer.socket as TLSSocket
      while ((await peer.request()) !== undefined) {
        seen.push(String(socket.getPeerCertificate().subject.CN))
        peer.send(answer(200))
      }
    },
    { ...requiresCertificate, ...security },
  )
  return { target, seen }
}

describe.each(adapters)('%s: client certificates', (_, create) => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('are sent to an endpoint that requires one: %s', async maxVersion => {
    const { target, seen } = await strictEndpoint({ maxVersion })
    const { post } = caller(create, { network })
    for (let call = 0; call < 5; call++)
      expect(await post(target.url(), {}, { tlsIdentity: crm })).toEqual(answered(200))
    expect(seen).toEqual(['crm', 'crm', 'crm', 'crm', 'crm'])
    expect(target.connections()).toBe(1)
  })

  it('allow an endpoint to renegotiate only a few times', async () => {
    const closed = Promise.withResolvers<void>()
    let renegotiations = 0
    const target = await receiver(
      afterRequest(peer => {
        const socket = peer.socket as TLSSocket
        socket.once('error', () => {})
        socket.once('close', () => closed.resolve())
        const again = (): void => {
          socket.renegotiate({}, error => {
            if (error !== null) return
            renegotiations++
            again()
          })
        }
        again()
      }),
      { ...requiresCertificate, maxVersion: 'TLSv1.2' },
    )
    const { post } = caller(create, { network })
    const result = await post(target.url(), {}, { tlsIdentity: crm })
    await soon(closed.promise)
    expect(renegotiations).toBeLessThanOrEqual(3)
    expect(result).toMatchObject({ code: 'ERR_TLS_TOO_MANY_RENEGOTIATIONS' })
    expect(classify(result)).toBe('tls_other')
  })

  it('are not sent for a destination without one', async () => {
    const { target, seen } = await strictEndpoint()
    const { post } = caller(create, { network })
    expect(await post(target.url(), {}, { tlsIdentity: crm })).toEqual(answered(200))
    expect(classify(await post(target.url()))).toMatch(/^(tls_other|reset)$/)
    expect(seen).toEqual(['crm'])
  })

  it('of an authority that the endpoint does not trust are refused', async () => {
    const { target, seen } = await strictEndpoint()
    const stranger = identity(createAuthority('stranger').issue({ names: ['crm'], usage: 'client' }))
    expect(classify(await caller(create, { network }).post(target.url(), {}, { tlsIdentity: stranger }))).toMatch(
      /^(tls_other|reset)$/,
    )
    expect(seen).toEqual([])
  })

  it('of two destinations on one host never share a connection or a TLS session', async () => {
    const { target, seen } = await strictEndpoint()
    const { post } = caller(create, { network })
    for (let round = 0; round < 10; round++) {
      await post(target.url(), {}, { tlsIdentity: crm })
      await post(target.url(), {}, { tlsIdentity: erp })
    }
    expect(seen).toEqual(Array.from({ length: 10 }, () => ['crm', 'erp']).flat())
    expect(target.connections()).toBe(2)
    const both = Array.from({ length: 40 }, (_, call) =>
      post(target.url(), {}, { tlsIdentity: call % 2 === 0 ? crm : erp }),
    )
    await Promise.all(both)
    expect(seen.slice(20).filter(name => name === 'crm')).toHaveLength(20)
    const users = Map.groupBy(target.requests, ({ connection }) => connection)
    const names = [...users.values()].map(
      requests => new Set(requests.map(request => seen[target.requests.indexOf(request)])),
    )
    expect(names.every(({ size }) => size === 1)).toBe(true)
  })

  it('resume only the TLS sessions of the same certificate', async () => {
    const seen: string[] = []
    const target = await receiver(
      afterRequest(peer => {
        const socket = peer.socket as TLSSocket
        seen.push(`${socket.getPeerCertificate().subject?.CN} ${socket.isSessionReused()}`)
        peer.send(answer(200, { Connection: 'close' }))
      }),
      { ...requiresCertificate, maxVersion: 'TLSv1.3' },
    )
    const { post } = caller(create, { network })
    for (const one of [crm, crm, erp, erp]) await post(target.url(), {}, { tlsIdentity: one })
    expect(seen.map(each => each.split(' ').at(-1))).toEqual(['false', 'true', 'false', 'true'])
  })

  it('that are equal share connections, also after a reload of the configuration', async () => {
    const { target } = await strictEndpoint()
    const { post } = caller(create, { network })
    await post(target.url(), {}, { tlsIdentity: crm })
    await post(target.url(), {}, { tlsIdentity: tlsIdentityOf(crm) })
    expect(target.connections()).toBe(1)
  })

  it('that changed open new connections, and the old idle ones are closed', async () => {
    const clock = new ManualClock()
    const closed: Promise<void>[] = []
    const seen: string[] = []
    const target = await receiver(async peer => {
      closed.push(peer.closed)
      while ((await peer.request()) !== undefined) {
        seen.push(String((peer.socket as TLSSocket).getPeerCertificate().subject.CN))
        peer.send(answer(200))
      }
    }, requiresCertificate)
    const { post } = caller(create, { network, clock })
    const [before, after, other] = ['before', 'after', 'other'].map(name => identity(clientNamed(name)))
    await post(target.url(), {}, { tlsIdentity: before })
    await post(target.url(), {}, { tlsIdentity: after })
    expect(seen).toEqual(['before', 'after'])
    expect(target.connections()).toBe(2)
    // A new TLS identity closes the connections of an identity that was not used for five minutes.
    await clock.advance(300_000)
    await post(target.url(), {}, { tlsIdentity: after })
    await post(target.url(), {}, { tlsIdentity: other })
    await soon(closed[0] as Promise<void>)
    await post(target.url(), {}, { tlsIdentity: before })
    expect(seen).toEqual(['before', 'after', 'after', 'other', 'before'])
  })

  it('the CAs of a destination replace all others', async () => {
    const target = await receiver(answering(answer(200)), leaf)
    const { post } = caller(create, { network: loopbackOnly })
    const trusting = tlsIdentityOf({ cert: undefined, key: undefined, ca: authority.cert })
    const elsewhere = tlsIdentityOf({ cert: undefined, key: undefined, ca: clients.cert })
    expect(await post(target.url())).toMatchObject({ phase: 'tls', code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
    expect(await post(target.url(), {}, { tlsIdentity: trusting })).toEqual(answered(200))
    expect(await caller(create, { network }).post(target.url(), {}, { tlsIdentity: elsewhere })).toMatchObject({
      phase: 'tls',
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    })
    expect(target.connections()).toBe(1)
  })

  it('a destination without CAs trusts those of the network settings', async () => {
    const { target } = await strictEndpoint()
    const plain = tlsIdentityOf({ ...crm, ca: undefined })
    expect(
      await caller(create, { network: loopbackOnly }).post(target.url(), {}, { tlsIdentity: plain }),
    ).toMatchObject({
      phase: 'tls',
    })
    expect(await caller(create, { network }).post(target.url(), {}, { tlsIdentity: plain })).toEqual(answered(200))
  })

  it('that OpenSSL refuses fail the request, not the process', async () => {
    const { target } = await strictEndpoint()
    const mismatched = tlsIdentityOf({
      cert: crm.cert,
      key: new Secret(createAuthority('x').issue().key),
      ca: undefined,
    })
    const { post, ends } = caller(create, { network })
    const result = await post(target.url(), {}, { tlsIdentity: mismatched })
    expect(result).toMatchObject({ kind: 'failed', phase: 'tls', code: 'ERR_OSSL_X509_KEY_VALUES_MISMATCH' })
    expect(classify(result)).toBe('tls_other')
    expect(ends).toEqual([[result]])
    expect(await post(target.url(), {}, { tlsIdentity: crm })).toEqual(answered(200))
  })

  it('are sent to the endpoint through a proxy', async () => {
    const { target, seen } = await strictEndpoint()
    const proxy = await proxyServer()
    const { post } = caller(create, { network: through(network, proxy) })
    for (const one of [crm, erp, crm]) expect(await post(target.url(), {}, { tlsIdentity: one })).toEqual(answered(200))
    expect(seen).toEqual(['crm', 'erp', 'crm'])
    expect(proxy.requests).toHaveLength(2)
  })

  it('changed network settings apply to requests with a client certificate', async () => {
    const { target } = await strictEndpoint()
    let current = network
    const { post } = caller(create, { network: () => current })
    await post(target.url(), {}, { tlsIdentity: crm })
    current = { ...network, allow: [] }
    expect(await post(target.url(), {}, { tlsIdentity: crm })).toMatchObject({ phase: 'address' })
    current = network
    expect(await post(target.url(), {}, { tlsIdentity: crm })).toEqual(answered(200))
    expect(target.connections()).toBe(2)
  })
})
