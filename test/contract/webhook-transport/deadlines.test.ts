import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from '@jest/globals'
import { systemClock } from '../../../src/adapters/clock.ts'
import { durationMs } from '../../../src/core/units.ts'
import { afterRequest, answer, answering, type Peer } from '../../support/scripted-receiver.ts'
import { adapters, answered, caller, receiver, scriptedResolver } from './adapters.ts'

const timeoutMs = 250

/** Sends one character every few milliseconds until the other side has gone. */
const trickle = (text: string, first = '') =>
  afterRequest(peer => {
    if (first !== '') peer.send(first)
    let index = 0
    const next = () => {
      if (peer.socket.destroyed) return
      peer.send(text[index++ % text.length] ?? '')
      systemClock.after(durationMs(20), next)
    }
    next()
  })

/** Keeps the whole process from doing anything. */
const standStill = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

const over = { kind: 'failed', phase: 'deadline', code: 'ETIMEDOUT' }

describe.each(adapters)('%s: one deadline for the whole call', (_, create) => {
  it.each([
    ['accepts and never answers', () => {}],
    ['stops within the head', afterRequest(peer => peer.send('HTTP/1.1 200 OK\r\nContent-Le'))],
    ['sends its head byte by byte', trickle(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(1_000)}`)],
    ['says 103 and no more', afterRequest(peer => peer.send('HTTP/1.1 103 Early Hints\r\n\r\n'))],
    ['says 103 over and over', trickle('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('a server that %s', async (_name, script) => {
    const closed = Promise.withResolvers<void>()
    const target = await receiver(peer => {
      void peer.closed.then(closed.resolve)
      return script(peer as Peer)
    })
    const { post, ends } = caller(create, { timeoutMs })
    const startedAt = performance.now()
    const result = await post(target.url())
    expect(result).toEqual({ ...over, detail: '250ms were over before the head of its answer was complete' })
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(timeoutMs - 5)
    await closed.promise
    expect(ends).toEqual([[result]])
  })

  it.each([
    ['sends no body', afterRequest(peer => peer.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n'))],
    ['sends its body byte by byte', trickle('a', 'HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n')],
    ['ends neither body nor connection', afterRequest(peer => peer.send('HTTP/1.1 200 OK\r\n\r\nbody'))],
  ])('a server that answers and %s has answered; the connection is dropped at the deadline', async (_name, script) => {
    const closed = Promise.withResolvers<void>()
    const target = await receiver(peer => {
      void peer.closed.then(closed.resolve)
      return script(peer)
    })
    const { post, ends } = caller(create, { timeoutMs })
    const startedAt = performance.now()
    expect(await post(target.url())).toEqual(answered(200))
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(timeoutMs - 5)
    await closed.promise
    expect(ends).toEqual([[answered(200)]])
  })

  it('a name that is not resolved in time', async () => {
    const { resolver } = scriptedResolver(() => new Promise(() => {}))
    const { post } = caller(create, { timeoutMs, resolver })
    expect(await post('http://slow.example.com/')).toEqual({
      ...over,
      detail: '250ms were over before its name was resolved',
    })
  })

  it('a name that is resolved when the time is over is not dialled any more', async () => {
    const late = Promise.withResolvers<LookupAddress[]>()
    const { resolver } = scriptedResolver(() => late.promise)
    const target = await receiver(answering(answer(200)))
    const { post } = caller(create, { timeoutMs, resolver })
    expect(await post(target.url('/', 'slow.example.com'))).toMatchObject(over)
    late.resolve([{ address: '127.0.0.1', family: 4 }])
    // By the second of these a connection that had been dialled before them would have been accepted.
    for (let fence = 0; fence < 2; fence++) expect(await post(target.url())).toEqual(answered(200))
    expect(target.connections()).toBe(1)
  })

  it('a TLS handshake that is not done in time', async () => {
    const closed = Promise.withResolvers<void>()
    const target = await receiver(peer => void peer.closed.then(closed.resolve))
    const { post } = caller(create, { timeoutMs })
    const result = await post(target.url().replace('http:', 'https:'))
    expect(result).toEqual({ ...over, detail: '250ms were over before the TLS handshake was done' })
    await closed.promise
  })

  it('a call that ended is not ended again when its time is over', async () => {
    const target = await receiver(answering(answer(200)))
    const { post, ends } = caller(create, { timeoutMs })
    await post(target.url())
    // A later call's deadline comes after the first one's.
    await post(target.url().replace('http:', 'https:'))
    expect(ends.map(ended => ended.length)).toEqual([1, 1])
  })

  it('an answer that came while this process stood still counts', async () => {
    const stood = Promise.withResolvers<void>()
    const target = await receiver(
      afterRequest(peer => {
        peer.send(answer(200))
        stood.resolve()
      }),
    )
    const { post } = caller(create, { timeoutMs })
    const result = post(target.url())
    await stood.promise
    // The answer is in the socket by now; the timer is overdue before anybody has read it.
    standStill(timeoutMs)
    expect(await result).toEqual(answered(200))
  })

  it('a stale connection is repeated within the same deadline', async () => {
    const target = await receiver(async peer => {
      if (peer.number > 1) return
      await peer.request()
      peer.send(answer(200))
      await peer.request()
      peer.reset()
    })
    const { post } = caller(create, { timeoutMs })
    expect(await post(target.url())).toEqual(answered(200))
    const startedAt = performance.now()
    expect(await post(target.url())).toMatchObject(over)
    expect(target.connections()).toBe(2)
    expect(performance.now() - startedAt).toBeLessThan(2 * timeoutMs)
  })
})
