import { describe, expect, it } from '@jest/globals'
import { maxConnecting, maxConnectingMs } from '../../../src/adapters/webhook/http-client-limits.ts'
import { ManualClock, turns } from '../../support/manual-clock.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import { adapters, answered, caller, loopbackOnly, receiver } from './tested-transports-and-servers.ts'

const authority = createAuthority()
const timeoutMs = 5_000

/** An endpoint whose TLS handshakes never end. */
async function silentEndpoint() {
  let onConnection = (): void => {}
  const { port, connections, close } = await receiver(() => onConnection())
  return {
    url: `https://127.0.0.1:${port}/`,
    connections,
    close,
    /** Resolves when the endpoint has accepted this number of connections. */
    connected: (count: number): Promise<void> =>
      new Promise(resolve => {
        onConnection = () => {
          if (connections() >= count) resolve()
        }
        onConnection()
      }),
  }
}

describe.each(adapters)('%s: many requests that need a new connection', (_, create) => {
  it('wait while too many others open a connection, but not for an endpoint that does not respond', async () => {
    const silent = await silentEndpoint()
    const [used, unused] = [await receiver(answering(answer(200))), await receiver(answering(answer(200)))]
    const clock = new ManualClock()
    const { post } = caller(create, { clock, timeoutMs })
    expect(await post(used.url())).toEqual(answered(200))
    await turns()

    for (let call = 0; call < maxConnecting; call++) void post(silent.url)
    const waits = post(unused.url())
    await silent.connected(maxConnecting)
    expect(await post(used.url())).toEqual(answered(200))
    expect({ used: used.connections(), unused: unused.connections() }).toEqual({ used: 1, unused: 0 })

    await clock.advance(maxConnectingMs, turns)
    expect(await waits).toEqual(answered(200))
  })

  it('start when others have their connections', async () => {
    const target = await receiver(answering(answer(200)), authority.issue())
    const clock = new ManualClock()
    const { post } = caller(create, { clock, timeoutMs, network: { ...loopbackOnly, ca: authority.cert } })
    const results = await Promise.all(Array.from({ length: maxConnecting * 2 }, () => post(target.url())))
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['answered']))
  })

  it('have their whole time limit after the wait', async () => {
    const silent = await silentEndpoint()
    const clock = new ManualClock()
    const { post, ends } = caller(create, { clock, timeoutMs })
    const results = Array.from({ length: maxConnecting + 1 }, () => post(silent.url))
    await silent.connected(maxConnecting)
    await clock.advance(maxConnectingMs, turns)
    await silent.connected(maxConnecting + 1)
    await clock.advance(timeoutMs - maxConnectingMs, turns)
    expect(await results[maxConnecting - 1]).toMatchObject({ kind: 'failed', phase: 'deadline' })
    expect(ends[maxConnecting]).toEqual([])
    await clock.advance(maxConnectingMs, turns)
    expect(await results[maxConnecting]).toMatchObject({ kind: 'failed', phase: 'deadline' })
  })

  it('start when the transport is closed', async () => {
    const silent = await silentEndpoint()
    const { post, transport } = caller(create, { clock: new ManualClock(), timeoutMs })
    const results = Array.from({ length: maxConnecting + 1 }, () => post(silent.url))
    const closed = transport.close()
    await silent.connected(maxConnecting + 1)
    await silent.close()
    await closed
    for (const result of await Promise.all(results)) expect(result).toMatchObject({ kind: 'failed' })
  })
})
