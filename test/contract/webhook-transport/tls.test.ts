import { once } from 'node:events'
import tls from 'node:tls'
import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { classify } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { createAuthority, selfSigned } from '../../support/network/certificates.ts'
import { afterRequest, answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import {
  adapters,
  answered,
  caller,
  callInProcess,
  loopbackOnly,
  receiver,
  scriptedResolver,
} from './tested-transports-and-servers.ts'

const authority = createAuthority()
const stranger = createAuthority('another authority')
const network = { ...loopbackOnly, ca: authority.cert }
const leaf = authority.issue()
const ok = answering(answer(200))

const untrusted = [
  ['is self-signed', selfSigned(), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['is signed by an unknown authority', stranger.issue(), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['is sent with its unknown authority', withChain(stranger), 'SELF_SIGNED_CERT_IN_CHAIN'],
  ['has expired', authority.issue({ validFrom: -3, validTo: -2 }), 'CERT_HAS_EXPIRED'],
  ['is not valid yet', authority.issue({ validFrom: 2, validTo: 3 }), 'CERT_NOT_YET_VALID'],
  ['is for another host', authority.issue({ names: ['example.com'] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['is for a part of the host name', authority.issue({ names: ['*.0.0.1'] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
] as const

function withChain(of: typeof authority) {
  const { cert, key } = of.issue()
  return { cert: cert + of.cert, key }
}

describe.each(adapters)('%s: TLS', (name, create) => {
  it.each(untrusted)(
    'a certificate that %s is refused before a byte of the request is sent',
    async (_case, own, code) => {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const target = await receiver(ok, { ...own, maxVersion })
        const { post, ends } = caller(create, { network })
        const result = await post(target.url('/hook?token=hush'), { Authorization: 'Bearer hush' })
        expect(result).toMatchObject({ kind: 'failed', phase: 'tls', code })
        expect(classify(result)).toBe('tls_untrusted')
        expect(JSON.stringify(result)).not.toMatch(/hush|\\n/)
        expect(ends).toEqual([[result]])
        // Later requests must fail too: a resumed TLS session would skip the check of the
        // certificate.
        const later = await Promise.all([post(target.url()), post(target.url())])
        expect(later).toMatchObject([
          { phase: 'tls', code },
          { phase: 'tls', code },
        ])
        await target.close()
        expect(target.bytes()).toBe(0)
      }
    },
  )

  it('no environment variable turns verification off', async () => {
    const target = await receiver(ok, selfSigned())
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const { results } = await callInProcess(name, [`${target.url()} 10000`], env)
    const refused = { phase: 'tls', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }
    expect(results.flat()).toMatchObject([refused, refused])
    expect(target.bytes()).toBe(0)
  })

  it('a private authority is trusted when it is configured', async () => {
    const target = await receiver(ok, leaf)
    expect(await caller(create).post(target.url())).toMatchObject({
      phase: 'tls',
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    })
    expect(await caller(create, { network }).post(target.url())).toEqual(answered(200))
  })

  it('several private authorities in one file', async () => {
    const target = await receiver(ok, leaf)
    const both = { ...loopbackOnly, ca: `${stranger.cert}\n${authority.cert}` }
    expect(await caller(create, { network: both }).post(target.url())).toEqual(answered(200))
  })

  it('a private authority is trusted in addition to the public ones', async () => {
    const target = await receiver(ok, stranger.issue())
    const publicOnes = tls.getCACertificates('default')
    tls.setDefaultCACertificates([stranger.cert])
    try {
      expect(await caller(create, { network }).post(target.url())).toEqual(answered(200))
    } finally {
      tls.setDefaultCACertificates(publicOnes)
    }
    expect(await caller(create, { network }).post(target.url())).toMatchObject({ kind: 'failed', phase: 'tls' })
  })

  /** `asked` has the names that clients sent. */
  async function namedReceiver() {
    const asked: string[] = []
    const target = await receiver(ok, {
      ...authority.issue({ names: ['crm.example.com'] }),
      SNICallback: (host, done) => {
        asked.push(host)
        done(null)
      },
    })
    const { resolver } = scriptedResolver(() => [{ address: '127.0.0.1', family: 4 }])
    const { post } = caller(create, { network, resolver })
    return { asked, target, post }
  }

  it('the host name is sent (SNI), and the certificate must be valid for it', async () => {
    const { asked, target, post } = await namedReceiver()
    expect(await post(target.url('/', 'crm.example.com'))).toEqual(answered(200))
    expect(await post(target.url('/', 'shop.example.com'))).toMatchObject({
      phase: 'tls',
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    expect(asked).toEqual(['crm.example.com', 'shop.example.com'])
  })

  it('the host name is sent (SNI) without its final dot, which RFC 6066 forbids', async () => {
    const { asked, target, post } = await namedReceiver()
    expect(await post(target.url('/', 'crm.example.com.'))).toEqual(answered(200))
    expect(asked).toEqual(['crm.example.com'])
  })

  it('an endpoint whose certificate is refused eight times in a row gets no connection for five seconds', async () => {
    let connections = 0
    const target = await receiver(ok, {
      ...selfSigned(),
      SNICallback: (_host, done) => {
        connections += 1
        done(null)
      },
    })
    const { resolver } = scriptedResolver(() => [{ address: '127.0.0.1', family: 4 }])
    let later = 0
    const clock = { ...processClock, monotonic: () => later }
    const { post } = caller(create, { network, resolver, clock })
    const url = target.url('/', 'crm.example.com')
    const refused = { kind: 'failed', phase: 'tls', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }
    for (let request = 0; request < 8; request += 1) expect(await post(url)).toMatchObject(refused)
    const paused = await post(url)
    expect(paused).toMatchObject(refused)
    expect(classify(paused)).toBe('tls_untrusted')
    expect(connections).toBe(8)
    later = 5_000
    expect(await post(url)).toMatchObject(refused)
    expect(await post(url)).toEqual(paused)
    expect(connections).toBe(9)
  })

  it('an endpoint cannot renegotiate', async () => {
    const outcome = Promise.withResolvers<string>()
    const target = await receiver(
      afterRequest(peer => {
        const socket = peer.socket as tls.TLSSocket
        for (const event of ['error', 'close']) socket.once(event, () => outcome.resolve('refused'))
        socket.renegotiate({}, error => outcome.resolve(error === null ? 'renegotiated' : 'refused'))
      }),
      { ...leaf, maxVersion: 'TLSv1.2' },
    )
    void caller(create, { network }).post(target.url())
    expect(await outcome.promise).toBe('refused')
  })

  it.each([
    ['the server requires a client certificate', { ...leaf, requestCert: true, rejectUnauthorized: true }],
    ['no cipher in common', { ...leaf, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }],
  ] as const)('a handshake that fails for another reason than trust: %s', async (_name, security) => {
    const target = await receiver(ok, security)
    const { post } = caller(create, { network })
    const result = await post(target.url())
    expect(classify(result)).toMatch(/^(tls_other|reset)$/)
    expect(target.requests).toEqual([])
  })

  it('an endpoint that offers only DHE is refused: its primes could block the event loop', async () => {
    const dhe = { maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam: 'auto' } as const
    const target = await receiver(ok, { ...leaf, ...dhe })
    // A client with Node's ciphers can connect, so the server itself works.
    const control = tls.connect({ port: target.port, host: '127.0.0.1', ca: authority.cert })
    await once(control, 'secureConnect')
    expect(control.getCipher().name).toBe('DHE-RSA-AES128-GCM-SHA256')
    control.destroy()
    const result = await caller(create, { network }).post(target.url())
    expect(result).toMatchObject({ kind: 'failed', phase: 'tls', detail: expect.stringContaining('handshake failure') })
    expect(classify(result)).toBe('tls_other')
    expect(target.requests).toEqual([])
  })

  it('TLS 1.1 is refused, also when the process allows it', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const target = await receiver(ok, { ...leaf, ...old })
    const { DEFAULT_CIPHERS, DEFAULT_MIN_VERSION } = tls
    Object.assign(tls, { DEFAULT_CIPHERS: old.ciphers, DEFAULT_MIN_VERSION: old.minVersion })
    try {
      // A client that accepts TLS 1.1 can connect, so the server itself works.
      const control = tls.connect({ port: target.port, host: '127.0.0.1', ca: authority.cert })
      await once(control, 'secureConnect')
      expect(control.getProtocol()).toBe('TLSv1.1')
      control.destroy()
      const result = await caller(create, { network }).post(target.url())
      expect(result).toMatchObject({ kind: 'failed', phase: 'tls' })
      expect(classify(result)).toBe('tls_other')
    } finally {
      Object.assign(tls, { DEFAULT_CIPHERS, DEFAULT_MIN_VERSION })
    }
    expect(target.requests).toEqual([])
  })

  it('plain HTTP on an https URL', async () => {
    const target = await receiver(peer => {
      peer.socket.once('data', () => peer.send(answer(400)))
    })
    const result = await caller(create, { network }).post(target.url().replace('http:', 'https:'))
    expect(result).toMatchObject({ kind: 'failed', phase: 'tls' })
    expect(classify(result)).toBe('tls_other')
  })

  it('TLS on an http URL', async () => {
    const target = await receiver(ok, leaf)
    const result = await caller(create, { network }).post(target.url().replace('https:', 'http:'))
    expect(result).toMatchObject({ kind: 'failed', phase: 'exchange' })
    expect(classify(result)).toMatch(/^(reset|bad_response)$/)
  })

  it('a connection that ends within the handshake', async () => {
    const target = await receiver(peer => peer.end())
    const result = await caller(create, { network }).post(target.url().replace('http:', 'https:'))
    expect(result).toMatchObject({ kind: 'failed', phase: 'tls', code: 'ECONNRESET' })
    expect(classify(result)).toBe('tls_other')
  })
})
