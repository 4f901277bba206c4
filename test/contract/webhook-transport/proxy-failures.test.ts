import { describe, expect, it } from '@jest/globals'
import { classify } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { createAuthority, selfSigned } from '../../support/network/certificates.ts'
import { type Intercept, refusing } from '../../support/network/connect-proxy.ts'
import { afterRequest, answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import {
  adapters,
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
const atLoopback = () => scriptedResolver(() => [{ address: '127.0.0.1', family: 4 }])

describe.each(adapters)('%s: a proxy', (_, create) => {
  describe.each(Object.entries(security))('%s', (_scheme, tls) => {
    it.each<[string, Intercept]>([
      ['403', refusing(403)],
      ['407', refusing(407, { 'Proxy-Authenticate': 'Basic realm="x"' })],
      ['500', refusing(500)],
      ['503 because of its own limit', refusing(503, { 'Proxy-Status': 'p; error=connection_limit_reached' })],
      ['302', refusing(302, { Location: 'https://login.example.com' })],
    ])('that responds with %s: nothing is sent to the endpoint', async (_name, intercept) => {
      const proxy = await proxyServer({ intercept: () => intercept })
      const target = await receiver(ok, tls)
      const { post, ends } = caller(create, { network: through(trusting, proxy) })
      const result = await post(target.url('/hook?token=hush'))
      expect(result).toMatchObject({ kind: 'failed', phase: 'proxy', code: 'ERR_PROXY_RESPONSE' })
      expect(classify(result)).toBe('proxy')
      expect(JSON.stringify(result)).not.toContain('hush')
      expect(ends).toEqual([[result]])
      expect(target.connections()).toBe(0)
      await soon(proxy.idle())
    })
  })

  it.each([502, 503, 504])('that responds with %i reports that the endpoint cannot be reached', async status => {
    const proxy = await proxyServer({ intercept: () => refusing(status) })
    const target = await receiver(ok)
    const result = await caller(create, { network: through(trusting, proxy) }).post(target.url())
    expect(result).toMatchObject({ phase: 'connect', code: 'ERR_PROXY_UNREACHABLE_ENDPOINT' })
    expect(classify(result)).toBe('connect')
  })

  it('in front of an endpoint that is down', async () => {
    const proxy = await proxyServer()
    const target = await receiver(ok)
    await target.close()
    const result = await caller(create, { network: through(trusting, proxy) }).post(target.url())
    expect(classify(result)).toBe('connect')
    expect(result).toMatchObject({
      detail: 'the proxy responded with 502 Refused to CONNECT: the proxy cannot reach the endpoint',
    })
  })

  it.each<[string, Intercept, string]>([
    ['closes the connection', socket => socket.end(), 'ECONNRESET'],
    ['resets the connection', socket => socket.resetAndDestroy(), 'ECONNRESET'],
    ['does not speak HTTP', socket => socket.end('SSH-2.0-OpenSSH\r\n\r\n'), 'HPE_INVALID_CONSTANT'],
    [
      'sends an endless head',
      socket => socket.write(`HTTP/1.1 200 OK\r\nA: ${'a'.repeat(99_999)}`),
      'HPE_HEADER_OVERFLOW',
    ],
  ])('that %s instead of a response', async (_name, intercept, code) => {
    const proxy = await proxyServer({ intercept: () => intercept })
    const { post } = caller(create, { network: through(trusting, proxy) })
    const results = await Promise.all(Array.from({ length: 5 }, () => post('http://127.0.0.1/')))
    for (const result of results) expect(result).toMatchObject({ kind: 'failed', phase: 'proxy', code })
    await soon(proxy.idle())
  })

  it.each(Object.entries(security))('that sends bytes of the endpoint before its request: %s', async (_scheme, tls) => {
    const early = answer(200)
    const proxy = await proxyServer({ established: [`HTTP/1.1 200 OK\r\n\r\n${early}`] })
    const target = await receiver(ok, tls)
    const result = await caller(create, { network: through(trusting, proxy) }).post(target.url())
    expect(result).toMatchObject({ kind: 'failed', phase: 'exchange', code: 'HPE_INVALID_RESPONSE' })
    expect(classify(result)).toBe('bad_response')
    expect(target.requests).toEqual([])
    expect(proxy.requests).toHaveLength(1)
    await soon(proxy.idle())
  })

  it('that is down', async () => {
    const proxy = await proxyServer()
    await proxy.close()
    const result = await caller(create, { network: through(trusting, proxy) }).post('https://127.0.0.1/')
    expect(result).toEqual({
      kind: 'failed',
      phase: 'proxy',
      code: 'ECONNREFUSED',
      detail: `proxy 127.0.0.1:${proxy.port}: connect ECONNREFUSED 127.0.0.1:${proxy.port}`,
    })
  })

  it('whose name is unknown', async () => {
    const result = await caller(create, { network: through(trusting, { url: 'http://proxy.invalid:3128' }) }).post(
      'https://127.0.0.1/',
    )
    expect(result).toMatchObject({ phase: 'proxy', code: 'ENOTFOUND' })
    expect(classify(result)).toBe('proxy')
  })

  it('whose certificate is not trusted', async () => {
    const proxy = await proxyServer({ tls: selfSigned() })
    const result = await caller(create, { network: through(trusting, proxy) }).post('https://127.0.0.1/')
    expect(result).toMatchObject({ phase: 'proxy', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    expect(classify(result)).toBe('proxy')
    expect(proxy.requests).toEqual([])
  })

  it('that does not respond: the request ends at the deadline, and the connection closes', async () => {
    const proxy = await proxyServer({ intercept: () => () => {} })
    const clock = new ManualClock()
    const { post, ends } = caller(create, { network: through(trusting, proxy), timeoutMs: 300, clock })
    const posted = post('https://127.0.0.1/')
    await proxy.received(1)
    await clock.advance(300)
    const result = await posted
    expect(result).toMatchObject({
      phase: 'deadline',
      detail: 'timed out after 300ms while waiting for the proxy to connect to the endpoint',
    })
    expect(classify(result)).toBe('timeout')
    expect(ends).toEqual([[result]])
    await soon(proxy.idle())
  })

  it('with which no TLS connection can be opened until the deadline', async () => {
    const begun = Promise.withResolvers<void>()
    const mute = await receiver(peer => void peer.socket.once('data', () => begun.resolve()))
    const proxy = { url: `https://127.0.0.1:${mute.port}` }
    const clock = new ManualClock()
    const { post } = caller(create, { network: through(trusting, proxy), timeoutMs: 300, clock })
    const posted = post('https://127.0.0.1/')
    await begun.promise
    await clock.advance(300)
    const result = await posted
    expect(result).toMatchObject({ phase: 'proxy', detail: 'timed out after 300ms while connecting to the proxy' })
    expect(classify(result)).toBe('proxy')
  })

  it('that responds after the deadline opens no connection', async () => {
    const respond = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    const proxy = await proxyServer({
      intercept: () => async socket => {
        socket.on('close', () => closed.resolve())
        await respond.promise
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
      },
    })
    const clock = new ManualClock()
    const { post, ends } = caller(create, { network: through(trusting, proxy), timeoutMs: 300, clock })
    const posted = post('http://127.0.0.1/')
    await proxy.received(1)
    await clock.advance(300)
    await posted
    respond.resolve()
    await soon(closed.promise)
    expect(ends.map(ended => ended.length)).toEqual([1])
  })

  it('the endpoint behind it does not respond: the request ends at the deadline', async () => {
    const proxy = await proxyServer()
    const target = await receiver(
      afterRequest(() => {}),
      leaf,
    )
    const clock = new ManualClock()
    const { post } = caller(create, { network: through(trusting, proxy), timeoutMs: 500, clock })
    const posted = post(target.url())
    await target.received(1)
    await clock.advance(500)
    expect(await posted).toMatchObject({
      phase: 'deadline',
      detail: 'timed out after 500ms while waiting for the response headers',
    })
    await soon(proxy.idle())
  })

  it.each([
    ['is not trusted', selfSigned(names), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['is for another host', authority.issue({ names: ['127.0.0.1'] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('the certificate of the endpoint behind it %s', async (_name, own, code) => {
    const { resolver } = atLoopback()
    const proxy = await proxyServer()
    const target = await receiver(ok, own)
    const result = await caller(create, { network: through(trusting, proxy), resolver }).post(
      target.url('/', 'crm.example.com'),
    )
    expect(result).toMatchObject({ phase: 'tls', code })
    expect(classify(result)).toBe('tls_untrusted')
    expect(target.requests).toEqual([])
  })

  it.each(Object.entries(security))('a reset behind it during a request is not repeated: %s', async (_scheme, tls) => {
    const proxy = await proxyServer()
    const target = await receiver(
      afterRequest(() => proxy.reset()),
      tls,
    )
    const result = await caller(create, { network: through(trusting, proxy) }).post(target.url())
    expect(classify(result)).toBe('reset')
    expect(proxy.requests).toHaveLength(1)
  })

  it('that closes an idle tunnel and then fails gets one CONNECT request more', async () => {
    let isBroken = false
    const proxy = await proxyServer({ intercept: () => (isBroken ? refusing(407) : undefined) })
    const target = await receiver(ok)
    const { post } = caller(create, { network: through(trusting, proxy) })
    expect(await post(target.url())).toMatchObject({ status: 200 })
    isBroken = true
    proxy.cut()
    await proxy.idle()
    expect(classify(await post(target.url()))).toBe('proxy')
    expect(proxy.requests).toHaveLength(2)
  })
})
