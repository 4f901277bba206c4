import { describe, expect, it } from '@jest/globals'
import type { NetworkSettings } from '../../../src/core/settings/settings.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { afterRequest, answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import {
  adapters,
  answered,
  caller,
  callInProcess,
  loopbackOnly,
  receiver,
  scriptedResolver,
  soon,
} from './tested-transports-and-servers.ts'

const authority = createAuthority()
const leaf = authority.issue()
const network = { ...loopbackOnly, ca: authority.cert }

describe.each(adapters)('%s: live settings', (_, create) => {
  it('a change of network closes idle connections and applies to new ones', async () => {
    let current: NetworkSettings = loopbackOnly
    const closed = Promise.withResolvers<void>()
    const target = await receiver(peer => {
      if (peer.number === 1) void peer.closed.then(closed.resolve)
      return answering(answer(200))(peer)
    })
    const { post } = caller(create, { network: () => current })
    await post(target.url())

    current = { ...loopbackOnly, allow: [...loopbackOnly.allow] }
    await post(target.url())
    expect(target.connections()).toBe(1)

    current = { ...loopbackOnly, ca: authority.cert }
    await post(target.url())
    expect(target.connections()).toBe(2)
    await soon(closed.promise)

    current = { ...loopbackOnly, allow: [] }
    expect(await post(target.url())).toMatchObject({ kind: 'failed', phase: 'address' })
    expect(target.connections()).toBe(2)
  })

  it('a connection in use stays open during the change, and is closed afterwards', async () => {
    let current: NetworkSettings = loopbackOnly
    const go = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    const target = await receiver(
      afterRequest(async peer => {
        await go.promise
        peer.send(answer(200))
        await peer.closed
        closed.resolve()
      }),
    )
    const { post } = caller(create, { network: () => current })
    const first = post(target.url())
    await target.received(1)
    current = { ...loopbackOnly, allow: [] }
    await post(target.url())
    go.resolve()
    expect(await first).toEqual(answered(200))
    await soon(closed.promise)
  })

  it('a private authority that is removed is not trusted, also not with a resumed session', async () => {
    let current: NetworkSettings = network
    const target = await receiver(answering(answer(200, { Connection: 'close' })), leaf)
    const { post } = caller(create, { network: () => current })
    expect(await post(target.url())).toEqual(answered(200))
    current = loopbackOnly
    expect(await post(target.url())).toMatchObject({ kind: 'failed', phase: 'tls' })
  })
})

describe.each(adapters)('%s: close', (name, create) => {
  it('waits for requests in progress and closes idle connections', async () => {
    const go = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    const target = await receiver(async peer => {
      await peer.request()
      await go.promise
      peer.send(answer(200))
      await peer.closed
      closed.resolve()
    })
    const { post, transport } = caller(create)
    const order: string[] = []
    const call = post(target.url()).then(() => order.push('call'))
    await target.received(1)
    const closing = [transport.close(), transport.close()].map(close => close.then(() => order.push('close')))
    go.resolve()
    await Promise.all([call, ...closing])
    expect(order).toEqual(['call', 'close', 'close'])
    await soon(closed.promise)
  })

  it('cancels DNS queries', async () => {
    const { resolver } = scriptedResolver(() => [])
    let closes = 0
    const { transport } = caller(create, { resolver: { ...resolver, close: () => void closes++ } })
    await transport.close()
    expect(closes).toBe(1)
  })

  it.each([
    ['the same', loopbackOnly],
    ['changed', { ...loopbackOnly, allow: ['127.0.0.1'] }],
  ])('keeps no connection of a later request, with settings that are %s', async (_name, later) => {
    let current: NetworkSettings = loopbackOnly
    const closed = Promise.withResolvers<void>()
    const target = await receiver(
      afterRequest(async peer => {
        peer.send(answer(200))
        await peer.closed
        closed.resolve()
      }),
    )
    const { post, transport } = caller(create, { network: () => current })
    await transport.close()
    current = later
    expect(await post(target.url())).toEqual(answered(200))
    await soon(closed.promise)
  })

  it('does not wait for the deadline of a request that has ended', async () => {
    const clock = new ManualClock()
    const target = await receiver(answering(answer(200)))
    const { post, transport } = caller(create, { clock })
    await post(target.url())
    await transport.close()
    expect(clock.timers).toBe(0)
    await post(target.url())
    expect(clock.timers).toBe(0)
  })

  it('leaves nothing that keeps the process alive, however requests have ended', async () => {
    const target = await receiver(answering(answer(200)))
    const silent = await receiver(() => {})
    const { code, results } = await callInProcess(name, [
      `${target.url()} 10000`,
      `${silent.url()} 200`,
      'http://gone.invalid/ 10000',
      'http://10.0.0.1/ 10000',
      'http://127.0.0.1:1024/ 10000',
    ])
    const ends = results.map(([, result]) => (result?.kind === 'answered' ? result.status : result?.phase))
    expect(ends).toEqual([200, 'deadline', 'dns', 'address', 'connect'])
    expect(code).toBe(0)
  })
})

describe.each(adapters)('%s: an error thrown by onEnd', name => {
  it('ends the process', async () => {
    const target = await receiver(answering(answer(200)))
    const { code, errors } = await callInProcess(name, [`${target.url()} 10000`], { THROW: 'thrown by onEnd' })
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining('thrown by onEnd') })
  })
})
