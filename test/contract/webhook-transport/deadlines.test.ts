import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { durationMs } from '../../../src/core/time.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { afterRequest, answer, answering, type Script } from '../../support/webhook/scripted-tcp-server.ts'
import {
  adapters,
  answered,
  type CreateTransport,
  caller,
  receiver,
  scriptedResolver,
} from './tested-transports-and-servers.ts'

const timeoutMs = 250

/** With a manual clock, deadlines do not depend on the machine's speed. */
function timed(create: CreateTransport, options: Omit<Parameters<typeof caller>[1], 'clock'> = {}) {
  const clock = new ManualClock()
  return { clock, ...caller(create, { timeoutMs, clock, ...options }) }
}

/**
 * Resolves when the transport has read all data that arrived before the call: the second response
 * arrives in a later iteration of the event loop.
 */
async function read({ post }: Pick<ReturnType<typeof caller>, 'post'>): Promise<void> {
  const other = await receiver(answering(answer(200)))
  for (let fence = 0; fence < 2; fence++) expect(await post(other.url())).toEqual(answered(200))
}

const trickle = (text: string, first = '') =>
  afterRequest(peer => {
    if (first !== '') peer.send(first)
    let index = 0
    const next = () => {
      if (peer.socket.destroyed) return
      peer.send(text[index++ % text.length] ?? '')
      processClock.after(durationMs(20), next)
    }
    next()
  })

/**
 * Advances the clock to the deadline of a request, which must end then, but not one millisecond
 * earlier.
 */
async function atDeadline(create: CreateTransport, script: Script) {
  const closed = Promise.withResolvers<void>()
  const target = await receiver(peer => {
    void peer.closed.then(closed.resolve)
    return script(peer)
  })
  const transport = timed(create)
  const { clock, post, ends } = transport
  const posted = post(target.url())
  await target.received(1)
  await read(transport)
  await clock.advance(timeoutMs - 1)
  expect(ends[0]).toEqual([])
  await clock.advance(1)
  return { posted, closed: closed.promise, ends }
}

const over = { kind: 'failed', phase: 'deadline', code: 'ETIMEDOUT' }

describe.each(adapters)('%s: one deadline for the whole request', (_, create) => {
  it.each([
    ['accepts and never responds', () => {}],
    ['stops within the head', afterRequest(peer => peer.send('HTTP/1.1 200 OK\r\nContent-Le'))],
    ['sends its head byte by byte', trickle(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(1_000)}`)],
    ['sends only a 103', afterRequest(peer => peer.send('HTTP/1.1 103 Early Hints\r\n\r\n'))],
    ['sends 103 repeatedly', trickle('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('a server that %s', async (_name, script) => {
    const { posted, closed, ends } = await atDeadline(create, script)
    const result = await posted
    expect(result).toEqual({ ...over, detail: 'timed out after 250ms while waiting for the response headers' })
    await closed
    expect(ends[0]).toEqual([result])
  })

  it.each([
    ['sends no body', afterRequest(peer => peer.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n'))],
    ['sends its body byte by byte', trickle('a', 'HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n')],
    ['ends neither body nor connection', afterRequest(peer => peer.send('HTTP/1.1 200 OK\r\n\r\nbody'))],
  ])('a server that responds and %s counts as a response, and the connection closes', async (_name, script) => {
    const { posted, closed, ends } = await atDeadline(create, script)
    expect(await posted).toEqual(answered(200))
    await closed
    expect(ends[0]).toEqual([answered(200)])
  })

  it('a host name that is not resolved in time', async () => {
    const asked = Promise.withResolvers<void>()
    const { resolver } = scriptedResolver(() => {
      asked.resolve()
      return new Promise(() => {})
    })
    const transport = timed(create, { resolver })
    const { clock, post } = transport
    const posted = post('http://slow.example.com/')
    await asked.promise
    await read(transport)
    await clock.advance(timeoutMs)
    expect(await posted).toEqual({ ...over, detail: 'timed out after 250ms while resolving the host name' })
  })

  it('a host name that is resolved after the deadline is not connected to', async () => {
    const [asked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<LookupAddress[]>()]
    const { resolver } = scriptedResolver(() => {
      asked.resolve()
      return late.promise
    })
    const target = await receiver(answering(answer(200)))
    const transport = timed(create, { resolver })
    const { clock, post } = transport
    const posted = post(target.url('/', 'slow.example.com'))
    await asked.promise
    await read(transport)
    await clock.advance(timeoutMs)
    expect(await posted).toMatchObject(over)
    late.resolve([{ address: '127.0.0.1', family: 4 }])
    // If the transport had connected after the deadline, the server would have counted that
    // connection before it answered these requests.
    for (let fence = 0; fence < 2; fence++) expect(await post(target.url())).toEqual(answered(200))
    expect(target.connections()).toBe(1)
  })

  it('a TLS handshake that is not complete in time', async () => {
    const [begun, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const target = await receiver(peer => {
      peer.socket.once('data', () => begun.resolve())
      void peer.closed.then(closed.resolve)
    })
    const { clock, post } = timed(create)
    const posted = post(target.url().replace('http:', 'https:'))
    await begun.promise
    await clock.advance(timeoutMs)
    expect(await posted).toEqual({ ...over, detail: 'timed out after 250ms during the TLS handshake' })
    await closed.promise
  })

  it('a request with its own time limit ends at that one, and the others at the one of the transport', async () => {
    const target = await receiver(() => {})
    const transport = timed(create)
    const { clock, post, ends } = transport
    const [usual, short] = [post(target.url()), post(target.url(), {}, { timeoutMs: durationMs(100) })]
    await target.received(2)
    await read(transport)
    await clock.advance(99)
    expect(ends.slice(0, 2)).toEqual([[], []])
    await clock.advance(1)
    expect(await short).toEqual({ ...over, detail: 'timed out after 100ms while waiting for the response headers' })
    await clock.advance(timeoutMs - 101)
    expect(ends[0]).toEqual([])
    await clock.advance(1)
    expect(await usual).toEqual({ ...over, detail: 'timed out after 250ms while waiting for the response headers' })
  })

  it('a request that ended does not end again at its deadline', async () => {
    const target = await receiver(answering(answer(200)))
    const transport = timed(create)
    await transport.post(target.url())
    await transport.clock.advance(timeoutMs)
    await read(transport)
    expect(transport.ends.map(ended => ended.length)).toEqual([1, 1, 1])
  })

  it('a response that arrived while the process was blocked counts', async () => {
    const target = await receiver(answering(answer(200)))
    const { clock, post } = timed(create)
    const result = post(target.url())
    await target.received(1)
    // The response is in the socket, but Node runs timers before it reads sockets. The request must
    // succeed nevertheless.
    await new Promise(resolve => setTimeout(resolve))
    await clock.advance(timeoutMs)
    expect(await result).toEqual(answered(200))
  })

  it('a request on a stale connection is repeated within the same deadline', async () => {
    const [again, reset] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const target = await receiver(async peer => {
      if (peer.number > 1) return
      await peer.request()
      peer.send(answer(200))
      await peer.request()
      again.resolve()
      await reset.promise
      peer.reset()
    })
    const { clock, post, ends } = timed(create)
    expect(await post(target.url())).toEqual(answered(200))
    const posted = post(target.url())
    await again.promise
    await clock.advance(timeoutMs - 1)
    reset.resolve()
    await target.received(3)
    expect(ends[1]).toEqual([])
    await clock.advance(1)
    expect(await posted).toMatchObject(over)
    expect(target.connections()).toBe(2)
  })
})
