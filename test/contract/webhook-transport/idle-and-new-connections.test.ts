import { describe, expect, it } from '@jest/globals'
import { Secret } from '../../../src/core/secret.ts'
import { durationMs } from '../../../src/core/time.ts'
import type { WebhookCall } from '../../../src/core/webhook-ports.ts'
import { turns } from '../../support/manual-clock.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { afterRequest, answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import { adapters, answered, caller, loopbackOnly, receiver, soon } from './tested-transports-and-servers.ts'

const authority = createAuthority()
const network = { ...loopbackOnly, ca: authority.cert }

describe.each(adapters)('%s: idle and new connections', (_, create) => {
  it.each([
    ['HTTP', undefined],
    ['HTTPS', authority.issue()],
  ])('are known before a request, with %s', async (_name, security) => {
    const requested = Promise.withResolvers<void>()
    const respond = Promise.withResolvers<void>()
    const script = afterRequest(async peer => {
      requested.resolve()
      await respond.promise
      peer.send(answer(200))
    })
    const [target, other] = [await receiver(script, security), await receiver(answering(answer(200)), security)]
    const { post, transport } = caller(create, { network })
    const hasIdle = () => transport.hasIdleConnection({ url: target.url('/other-path') })
    expect(hasIdle()).toBe(false)
    const result = post(target.url())
    await requested.promise
    expect(hasIdle()).toBe(false)
    respond.resolve()
    expect(await result).toEqual(answered(200))
    await turns(3)
    expect(hasIdle()).toBe(true)
    expect(transport.hasIdleConnection({ url: other.url() })).toBe(false)
  })

  it('an idle connection is free for one request, and for the next one after its response', async () => {
    const target = await receiver(answering(answer(200)))
    const { post, transport } = caller(create)
    await post(target.url())
    await turns(3)
    const result = post(target.url())
    expect(transport.hasIdleConnection({ url: target.url() })).toBe(false)
    expect(await result).toEqual(answered(200))
    await turns(3)
    expect(transport.hasIdleConnection({ url: target.url() })).toBe(true)
    expect(target.connections()).toBe(1)
  })

  it('an idle connection that the server closes does not count', async () => {
    const closed = Promise.withResolvers<void>()
    const target = await receiver(
      afterRequest(async peer => {
        peer.send(answer(200))
        await turns(5)
        peer.end()
        await peer.closed
        closed.resolve()
      }),
    )
    const { post, transport } = caller(create)
    await post(target.url())
    await soon(closed.promise)
    await turns(3)
    expect(transport.hasIdleConnection({ url: target.url() })).toBe(false)
  })

  it('a URL that cannot be requested needs no connection', () => {
    const { transport } = caller(create)
    expect(transport.hasIdleConnection({ url: 'ftp://crm.example.com/' })).toBe(true)
  })

  it('a client certificate that cannot be used needs no connection', () => {
    const { transport } = caller(create)
    const tlsIdentity = { id: 'unusable', cert: 'no certificate', key: new Secret('no key'), ca: undefined }
    expect(transport.hasIdleConnection({ url: 'https://crm.example.com/', tlsIdentity })).toBe(true)
  })

  it('a request says when it is connected: not before its handshake has ended, and before its response', async () => {
    const events: string[] = []
    const secure = await receiver(
      afterRequest(async peer => {
        events.push('requested')
        await turns(5)
        peer.send(answer(200))
      }),
      authority.issue(),
    )
    const silent = await receiver(() => {})
    const { transport } = caller(create, { network })
    const call = (url: string, name: string, own: Pick<WebhookCall, 'timeoutMs'> = {}) =>
      new Promise<void>(resolve => {
        const onConnected = () => events.push(`${name} connected`)
        transport.post({ url, headers: {}, body: Buffer.from('{}'), onConnected, ...own }, ({ kind }) => {
          events.push(`${name} ${kind}`)
          resolve()
        })
      })
    await call(secure.url(), 'new')
    await turns(3)
    await call(`https://127.0.0.1:${silent.port}/`, 'silent', { timeoutMs: durationMs(1_000) })
    expect(events.filter(event => event !== 'requested')).toEqual(['new connected', 'new answered', 'silent failed'])
  })
})
