import { afterEach, describe, expect, it } from '@jest/globals'
import { processClock } from '../../../../src/adapters/clock/process-clock.ts'
import { createConnectionRules } from '../../../../src/adapters/webhook/connection-rules.ts'
import { ConnectionLimit } from '../../../../src/adapters/webhook/open-connection-limit.ts'
import { Pool } from '../../../../src/adapters/webhook/pool-of-undici-connections.ts'
import { createUndiciTransport } from '../../../../src/adapters/webhook/undici.ts'
import type { Clock } from '../../../../src/core/ports.ts'
import { durationMs } from '../../../../src/core/time.ts'
import type { CallResult } from '../../../../src/core/webhook-ports.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import {
  answer,
  answering,
  type Peer,
  type Script,
  startScriptedServer,
} from '../../../support/webhook/scripted-tcp-server.ts'

const network = { allow: ['127.0.0.1'], ports: undefined, ca: undefined }
const resolve = () => Promise.reject(new Error('no name here'))
/** So long that no request reaches it on a slow machine. */
const timeout = durationMs(60_000)

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function receiver(script: Script) {
  const target = await startScriptedServer(script)
  cleanups.push(() => target.close())
  return target
}

function caller(clock: Clock = processClock) {
  const transport = createUndiciTransport({ network: () => network, timeout, clock })
  cleanups.push(() => transport.close())
  return (url: string) =>
    new Promise<CallResult>(end => transport.post({ url, headers: {}, body: Buffer.from('{}') }, end))
}

const answered = (status: number): CallResult => ({ kind: 'answered', status, retryAfter: undefined })

describe('a kept connection is checked before it is reused', () => {
  it.each([
    ['invalid data', (peer: Peer) => peer.send('rubbish')],
    ['an unsolicited response', (peer: Peer) => peer.send(answer(500))],
    ['half a response', (peer: Peer) => peer.send('HTTP/1.1 2')],
    ['the end of the stream', (peer: Peer) => peer.end()],
    ['a reset', (peer: Peer) => peer.reset()],
  ])('after it received %s: the request uses another connection, and is sent once', async (_name, act) => {
    let first: Peer | undefined
    const target = await receiver(peer => {
      first ??= peer
      return answering(answer(peer.number === 1 ? 200 : 202))(peer)
    })
    const post = caller()
    expect(await post(target.url())).toEqual(answered(200))
    // Node reads sockets only after this timer callback, so the request starts before the
    // connection has received the peer's data.
    const result = new Promise<CallResult>(end => {
      processClock.after(durationMs(1), () => {
        act(first as Peer)
        void post(target.url()).then(end)
      })
    })
    expect(await result).toEqual(answered(202))
    expect(target.requests.map(({ connection }) => connection)).toEqual([1, 2])
  })

  it('never sends a request whose deadline passed before the check', async () => {
    const clock = new ManualClock()
    const target = await receiver(answering(answer(200)))
    const post = caller(clock)
    await post(target.url())
    const late = post(target.url())
    await clock.advance(timeout)
    expect(await late).toMatchObject({ kind: 'failed', phase: 'deadline' })
    // If the request that missed its deadline opened a connection, the connection would arrive
    // before these two requests have ended.
    for (let fence = 0; fence < 2; fence++) await post(target.url())
    expect(target.requests.map(({ connection }) => connection)).toEqual([1, 2, 2])
    expect(target.connections()).toBe(2)
  })
})

describe('the pool', () => {
  it('forgets idle connections that the server closes', async () => {
    const peers: Peer[] = []
    const target = await receiver(peer => {
      peers.push(peer)
      return answering(answer(200))(peer)
    })
    const pool = new Pool(createConnectionRules(network, resolve), new ConnectionLimit(), () => 0)
    const { origin, path } = pool.target(target.url())!
    const connections = [pool.take(origin), pool.take(origin)]
    for (const connection of connections) {
      await new Promise<void>((end, fail) => {
        connection.send(
          { method: 'POST', path },
          {
            onRequestStart() {},
            onResponseStart() {},
            onResponseData() {},
            onResponseEnd: () => end(),
            onResponseError: (_, error) => fail(error),
          },
        )
      })
    }
    for (const connection of connections) pool.release(connection)
    expect(origin.idle).toEqual(connections)
    expect(pool.take(origin)).toBe(connections[1])
    peers[0]?.end()
    await peers[0]?.closed
    expect(origin.idle).toEqual([])
    pool.retire()
    connections[1]?.destroy()
  })

  it.each([['no url'], ['ftp://127.0.0.1/'], ['//127.0.0.1/'], ['http://']])('%s is not a valid target', url => {
    expect(
      new Pool(createConnectionRules(network, resolve), new ConnectionLimit(), () => 0).target(url),
    ).toBeUndefined()
  })

  it.each([
    ['http://crm.example.com', 'crm.example.com', 80, '/'],
    ['https://crm.example.com/a?b#c', 'crm.example.com', 443, '/a?b'],
    ['https://[2001:db8::1]:8443/ü', '2001:db8::1', 8443, '/%C3%BC'],
  ])('%s', (url, host, port, path) => {
    const pool = new Pool(createConnectionRules(network, resolve), new ConnectionLimit(), () => 0)
    expect(pool.target(url)).toMatchObject({ origin: { host, port }, path })
    expect(pool.target(url)).toBe(pool.target(url))
  })
})
