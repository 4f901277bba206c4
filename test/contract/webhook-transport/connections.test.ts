import type { TLSSocket } from 'node:tls'
import { describe, expect, it } from '@jest/globals'
import { ManualClock } from '../../support/manual-clock.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { afterRequest, answer, answering, type Peer, type Script } from '../../support/webhook/scripted-tcp-server.ts'
import {
  adapters,
  answered,
  caller,
  loopbackOnly,
  receiver,
  scriptedResolver,
  soon,
} from './tested-transports-and-servers.ts'

const authority = createAuthority()
const leaf = authority.issue()
const security = { http: undefined, https: leaf }
const network = { ...loopbackOnly, ca: authority.cert }

/**
 * An endpoint whose first connection responds once, and calls `finish` at the second request. Other
 * connections respond normally.
 */
const goesStale =
  (finish: (peer: Peer) => unknown): Script =>
  async peer => {
    if (peer.number > 1) {
      await answering(answer(202))(peer)
    } else {
      await peer.request()
      peer.send(answer(200))
      await peer.request()
      await finish(peer)
    }
  }

describe.each(adapters)('%s: connections', (_, create) => {
  it.each(Object.entries(security))('are kept and reused: %s', async (_scheme, tls) => {
    const target = await receiver(answering(answer(200)), tls)
    const { post } = caller(create, { network })
    for (let call = 0; call < 20; call++) expect(await post(target.url())).toEqual(answered(200))
    expect(target.connections()).toBe(1)
    expect(target.requests).toHaveLength(20)
  })

  it('serve 200 concurrent requests, which all end once, and the next 200', async () => {
    const target = await receiver(answering(answer(200)))
    const { post, ends } = caller(create)
    const burst = () => Promise.all(Array.from({ length: 200 }, () => post(target.url())))
    expect(new Set((await burst()).map(result => JSON.stringify(result)))).toEqual(
      new Set([JSON.stringify(answered(200))]),
    )
    const opened = target.connections()
    await burst()
    expect(target.connections()).toBe(opened)
    expect(opened).toBeLessThanOrEqual(200)
    expect(target.requests).toHaveLength(400)
    expect(ends.every(ended => ended.length === 1)).toBe(true)
  })

  it.each([
    ['the server sends Connection: close', answer(200, { Connection: 'close' })],
    ['the server keeps them for only a second', answer(200, { 'Keep-Alive': 'timeout=1' })],
    ['the server uses HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['invalid data follows the response', `${answer(200)}rubbish`],
    ['a second response follows', `${answer(200)}${answer(500)}`],
  ])('are not reused when %s', async (_name, text) => {
    const target = await receiver(answering(text))
    const { post } = caller(create)
    for (let call = 0; call < 3; call++) expect(await post(target.url())).toEqual(answered(200))
    expect(target.connections()).toBe(3)
  })

  it('are not reused when they are five minutes old', async () => {
    const clock = new ManualClock()
    const target = await receiver(answering(answer(200)))
    const { post } = caller(create, { clock })
    await post(target.url())
    await clock.advance(299_999)
    await post(target.url())
    await post(target.url())
    await clock.advance(1)
    // A connection that is five minutes old serves one more request and then closes.
    await post(target.url())
    await post(target.url())
    expect(target.requests.map(({ connection }) => connection)).toEqual([1, 1, 1, 1, 2])
  })

  it('are not reused after unsolicited data, which would be read as the next response', async () => {
    const go = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    const target = await receiver(async peer => {
      await peer.request()
      peer.send(answer(peer.number === 1 ? 200 : 202))
      if (peer.number > 1) return
      await go.promise
      peer.send(answer(500))
      await peer.closed
      closed.resolve()
    })
    const { post } = caller(create)
    expect(await post(target.url())).toEqual(answered(200))
    go.resolve()
    await soon(closed.promise)
    expect(await post(target.url())).toEqual(answered(202))
    expect(target.connections()).toBe(2)
  })

  it('resume the TLS session of earlier connections', async () => {
    const resumed: boolean[] = []
    const target = await receiver(
      afterRequest(peer => {
        resumed.push((peer.socket as TLSSocket).isSessionReused())
        peer.send(answer(200, { Connection: 'close' }))
      }),
      leaf,
    )
    const { post } = caller(create, { network })
    for (let call = 0; call < 3; call++) expect(await post(target.url())).toEqual(answered(200))
    expect(resumed).toEqual([false, true, true])
  })

  it('are replaced when the server closed them while idle', async () => {
    const target = await receiver(async peer => {
      await peer.request()
      peer.send(answer(200))
      peer.end()
    })
    const { post } = caller(create)
    for (let call = 0; call < 10; call++) expect(await post(target.url())).toEqual(answered(200))
  })
})

describe.each(adapters)('%s: a kept connection that breaks', (_, create) => {
  describe.each(Object.entries(security))('%s', (_scheme, tls) => {
    it.each([
      ['is destroyed', (peer: Peer) => peer.socket.destroy()],
      ['ends', (peer: Peer) => peer.end()],
    ])('is replaced by a new one when it %s before a byte of the response', async (_name, finish) => {
      const target = await receiver(goesStale(finish), tls)
      const { post, ends } = caller(create, { network })
      expect(await post(target.url())).toEqual(answered(200))
      expect(await post(target.url())).toEqual(answered(202))
      expect(target.requests.map(({ connection }) => connection)).toEqual([1, 1, 2])
      const [, first, second] = target.requests
      expect(second?.body).toBe(first?.body)
      expect(ends.map(ended => ended.length)).toEqual([1, 1])
    })
  })

  it('is not replaced after some bytes of the response', async () => {
    const target = await receiver(
      goesStale(async peer => {
        await new Promise(resolve => peer.socket.write('HTTP/1.1 2', resolve))
        peer.end()
      }),
    )
    const { post } = caller(create)
    await post(target.url())
    expect(await post(target.url())).toMatchObject({ kind: 'failed', phase: 'exchange', code: 'ECONNRESET' })
    expect(target.connections()).toBe(1)
  })

  it('is replaced only once', async () => {
    const target = await receiver(async peer => {
      await peer.request()
      if (peer.number === 1) {
        peer.send(answer(200))
        await peer.request()
      }
      peer.reset()
    })
    const { post } = caller(create)
    await post(target.url())
    expect(await post(target.url())).toMatchObject({ kind: 'failed', phase: 'exchange', code: 'ECONNRESET' })
    expect(target.connections()).toBe(2)
  })

  it('is replaced by a new connection, not by another idle one', async () => {
    const target = await receiver(async peer => {
      await peer.request()
      await target.received(2)
      peer.send(answer(200))
      // Both kept connections break when they are reused. Only the third connection responds.
      if (peer.number > 2) return
      await peer.request()
      peer.reset()
    })
    const { post } = caller(create)
    await Promise.all([post(target.url()), post(target.url())])
    expect(await post(target.url())).toEqual(answered(200))
    expect(target.connections()).toBe(3)
    expect(target.requests).toHaveLength(4)
  })
})

describe.each(adapters)('%s: a host name', (_, create) => {
  it('is resolved once for many new connections', async () => {
    const { resolver, asked } = scriptedResolver(() => [{ address: '127.0.0.1', family: 4 }])
    const target = await receiver(answering(answer(200)))
    const { post } = caller(create, { resolver })
    await Promise.all(Array.from({ length: 20 }, () => post(target.url('/', 'crm.example.com'))))
    expect(target.requests).toHaveLength(20)
    expect(asked).toEqual(['crm.example.com'])
  })
})
