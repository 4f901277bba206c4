import { describe, expect, it } from '@jest/globals'
import { classify } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { NetworkSettings, ProxySettings } from '../../../src/core/settings/settings.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { type Intercept, refusing } from '../../support/network/connect-proxy.ts'
import { answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import {
  adapters,
  answered,
  caller,
  loopbackOnly,
  proxyServer,
  receiver,
  scriptedResolver,
  soon,
  through,
} from './tested-transports-and-servers.ts'

const authority = createAuthority()
const names = ['crm.example.com', 'localhost', '127.0.0.1']
const leaf = authority.issue({ names })
const security = { http: undefined, https: leaf }
const trusting = { ...loopbackOnly, ca: authority.cert }
const ok = answering(answer(200))
const passwordOf = (password: string) => ({ username: new Secret('hookline'), password: new Secret(password) })
const atLoopback = () => scriptedResolver(() => [{ address: '127.0.0.1', family: 4 }])

describe.each(adapters)('%s: a proxy', (_, create) => {
  describe.each(Object.entries(security))('%s', (_scheme, tls) => {
    it('gets a CONNECT request with the checked address, and the endpoint gets the request', async () => {
      const { resolver, asked } = atLoopback()
      const proxy = await proxyServer()
      const target = await receiver(ok, tls)
      const { post } = caller(create, { network: through(trusting, proxy), resolver })
      expect(await post(target.url('/hook?a=b', 'crm.example.com'))).toEqual(answered(200))
      const host = `127.0.0.1:${target.port}`
      expect(proxy.requests).toEqual([{ authority: host, headers: { host, connection: 'keep-alive' } }])
      expect(asked).toEqual(['crm.example.com'])
      const [request] = target.requests
      expect(request?.path).toBe('/hook?a=b')
      expect(new Map(request?.headers.map(([name, value]) => [name.toLowerCase(), value])).get('host')).toBe(
        `crm.example.com:${target.port}`,
      )
    })

    it('keeps its tunnels: they are reused, and many can be open', async () => {
      const proxy = await proxyServer()
      const target = await receiver(ok, tls)
      const { post, ends } = caller(create, { network: through(trusting, proxy) })
      for (let call = 0; call < 20; call++) expect(await post(target.url())).toEqual(answered(200))
      expect(proxy.requests).toHaveLength(1)
      const burst = () => Promise.all(Array.from({ length: 50 }, () => post(target.url())))
      await burst()
      const opened = proxy.requests.length
      await burst()
      expect(proxy.requests).toHaveLength(opened)
      expect(target.requests).toHaveLength(120)
      expect(ends.every(ended => ended.length === 1)).toBe(true)
    })

    it('that closes an idle tunnel gets a new CONNECT request', async () => {
      const proxy = await proxyServer()
      const target = await receiver(ok, tls)
      const { post } = caller(create, { network: through(trusting, proxy) })
      expect(await post(target.url())).toEqual(answered(200))
      proxy.cut()
      expect(await post(target.url())).toEqual(answered(200))
      expect(proxy.requests).toHaveLength(2)
    })

    it.each([
      ['HTTP/1.0', ['HTTP/1.0 200 Connection established\r\n\r\n']],
      ['no reason', ['HTTP/1.1 200 \r\n\r\n']],
      ['another 2xx status', ['HTTP/1.1 204 No Content\r\n\r\n']],
      ['a length, which has no meaning here', ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n']],
      ['an encoding, which has no meaning here', ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n']],
      ['Connection: close', ['HTTP/1.1 200 OK\r\nConnection: close\r\nProxy-Agent: x\r\n\r\n']],
      ['several writes', [...'HTTP/1.1 200 OK\r\n\r\n']],
    ])('whose response has %s', async (_name, established) => {
      const proxy = await proxyServer({ established })
      const target = await receiver(ok, tls)
      const { post } = caller(create, { network: through(trusting, proxy) })
      for (let call = 0; call < 3; call++) expect(await post(target.url())).toEqual(answered(200))
      expect(proxy.requests).toHaveLength(1)
    })

    it('over TLS', async () => {
      const proxy = await proxyServer({ tls: leaf })
      const target = await receiver(ok, tls)
      const { post } = caller(create, { network: through(trusting, proxy) })
      for (let call = 0; call < 3; call++) expect(await post(target.url())).toEqual(answered(200))
      expect(proxy.requests).toHaveLength(1)
    })
  })

  it('over TLS gets its name (SNI) without a final dot', async () => {
    const asked: string[] = []
    const tls = {
      ...leaf,
      SNICallback: (host: string, done: (error: Error | null) => void) => {
        asked.push(host)
        done(null)
      },
    }
    const proxy = await proxyServer({ tls })
    const target = await receiver(ok)
    const url = `https://crm.example.com.:${proxy.port}`
    const { post } = caller(create, { network: through(trusting, { url }), resolver: atLoopback().resolver })
    expect(await post(target.url())).toEqual(answered(200))
    expect(asked).toEqual(['crm.example.com'])
  })

  it.each<[string, Partial<ProxySettings>]>([
    ['the host', { noProxy: ['other.example', 'crm.example.com'] }],
    ['its domain', { noProxy: ['.example.com'] }],
  ])('is not used when noProxy has %s', async (_name, options) => {
    const { resolver } = atLoopback()
    const proxy = await proxyServer()
    const target = await receiver(ok, leaf)
    const { post } = caller(create, { network: through(trusting, proxy, options), resolver })
    expect(await post(target.url('/', 'crm.example.com'))).toEqual(answered(200))
    expect(proxy.requests).toEqual([])
  })

  it('is not used for an address in a block of noProxy', async () => {
    const proxy = await proxyServer()
    const target = await receiver(ok)
    const { post } = caller(create, { network: through(trusting, proxy, { noProxy: ['127.0.0.0/8'] }) })
    expect(await post(target.url())).toEqual(answered(200))
    expect(proxy.requests).toEqual([])
  })

  it('gets the credentials, and no one else does', async () => {
    const proxy = await proxyServer({
      intercept: ({ headers }) =>
        headers['proxy-authorization'] === `Basic ${Buffer.from('hookline:pässword').toString('base64')}`
          ? undefined
          : refusing(407),
    })
    const target = await receiver(ok)
    const settings = through(trusting, proxy, { credentials: passwordOf('pässword') })
    expect(await caller(create, { network: settings }).post(target.url())).toEqual(answered(200))
    expect(target.requests[0]?.raw).not.toMatch(/proxy-authorization/i)
    const wrong = await caller(create, { network: through(trusting, proxy, { credentials: passwordOf('hush') }) }).post(
      target.url(),
    )
    expect(wrong).toMatchObject({ phase: 'proxy', detail: 'the proxy responded with 407 Refused to CONNECT' })
    expect(JSON.stringify(wrong)).not.toMatch(/hush|aG9va2xpbmU6aHVzaA/)
  })

  it('is reached at a private address that network.allow does not have', async () => {
    const proxy = await proxyServer()
    const target = await receiver(ok, leaf)
    const { resolver, asked } = scriptedResolver(() => [])
    const settings = { ...through(trusting, proxy, { resolve: 'proxy' }), allow: [] }
    const { post } = caller(create, { network: settings, resolver })
    expect(await post(target.url('/', 'crm.example.com'))).toEqual(answered(200))
    expect(proxy.requests.map(request => request.authority)).toEqual([`crm.example.com:${target.port}`])
    expect(asked).toEqual([])
  })

  it.each<[string, string, ProxySettings['resolve'], string]>([
    ['a private address', 'http://10.1.2.3/', 'proxy', 'ERR_FORBIDDEN_ADDRESS'],
    ['a private IPv6 address', 'http://[fd00::1]/', 'proxy', 'ERR_FORBIDDEN_ADDRESS'],
    ['a name of the machine itself', 'http://localhost/', 'proxy', 'ERR_FORBIDDEN_ADDRESS'],
    ['a name below localhost', 'http://a.localhost./', 'proxy', 'ERR_FORBIDDEN_ADDRESS'],
    ['a forbidden port', 'http://crm.example.com:22/', 'proxy', 'ERR_FORBIDDEN_PORT'],
    ['a name with a private address', 'http://crm.example.com/', 'local', 'ERR_FORBIDDEN_ADDRESS'],
  ])('gets no CONNECT request for %s', async (_name, url, resolve, code) => {
    const { resolver } = scriptedResolver(() => [
      { address: '192.0.43.8', family: 4 },
      { address: '10.1.2.3', family: 4 },
    ])
    const proxy = await proxyServer()
    const { post } = caller(create, { network: { ...through(trusting, proxy, { resolve }), allow: [] }, resolver })
    const result = await post(url)
    expect(result).toMatchObject({ kind: 'failed', phase: 'address', code })
    expect(classify(result)).toBe('blocked_address')
    expect(proxy.requests).toEqual([])
  })

  it('an unknown host name fails with dns, without a CONNECT request', async () => {
    const proxy = await proxyServer()
    const result = await caller(create, { network: through(trusting, proxy) }).post('https://crm.invalid/')
    expect(classify(result)).toBe('dns')
    expect(proxy.requests).toEqual([])
  })

  it.each<[string, Intercept]>([
    ['refuses', refusing(504)],
    ['does not respond to', () => {}],
  ])('gets a CONNECT request for the next address after one that it %s', async (_name, intercept) => {
    const { resolver } = scriptedResolver(() => [
      { address: '127.0.0.2', family: 4 },
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ])
    const proxy = await proxyServer({
      intercept: request => (request.authority.startsWith('127.0.0.1') ? undefined : intercept),
    })
    const target = await receiver(ok, leaf)
    const { post } = caller(create, { network: through(trusting, proxy), resolver })
    expect(await post(target.url('/', 'crm.example.com'))).toEqual(answered(200))
    expect(proxy.requests.map(request => request.authority)).toEqual(
      ['127.0.0.2', '127.0.0.1'].map(address => `${address}:${target.port}`),
    )
  })

  it('gets IPv6 addresses in brackets', async () => {
    const proxy = await proxyServer()
    const target = await receiver(ok)
    expect(await caller(create, { network: through(trusting, proxy) }).post(target.url('/', '[::1]'))).toEqual(
      answered(200),
    )
    expect(proxy.requests[0]).toMatchObject({
      authority: `[::1]:${target.port}`,
      headers: { host: `[::1]:${target.port}` },
    })
  })

  it('is used as soon as it is configured, and a changed password applies', async () => {
    const accepted = new Set(['first'])
    const proxy = await proxyServer({
      intercept: ({ headers }) => {
        const [, token = ''] = String(headers['proxy-authorization']).split(' ')
        const [, password = ''] = Buffer.from(token, 'base64').toString().split(':')
        return accepted.has(password) ? undefined : refusing(407)
      },
    })
    const target = await receiver(ok)
    let current: NetworkSettings = trusting
    const { post } = caller(create, { network: () => current })
    expect(await post(target.url())).toEqual(answered(200))
    current = through(trusting, proxy, { credentials: passwordOf('first') })
    expect(await post(target.url())).toEqual(answered(200))
    expect(proxy.requests).toHaveLength(1)
    accepted.clear()
    accepted.add('second')
    current = through(trusting, proxy, { credentials: passwordOf('second') })
    expect(await post(target.url())).toEqual(answered(200))
    expect(proxy.requests).toHaveLength(2)
    current = trusting
    expect(await post(target.url())).toEqual(answered(200))
    await soon(proxy.idle())
    expect(proxy.requests).toHaveLength(2)
  })

  it('does not keep the process busy: close ends its idle tunnels', async () => {
    const proxy = await proxyServer()
    const target = await receiver(ok, leaf)
    const { post, transport } = caller(create, { network: through(trusting, proxy) })
    await post(target.url())
    await transport.close()
    await soon(proxy.idle())
  })
})
