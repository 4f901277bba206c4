import { describe, expect, it } from '@jest/globals'
import type { SinkAnswer, SinkOptions } from '../../../../src/adapters/http/sink-server.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { type Answer, startSink } from '../../../support/webhook/sink.ts'

describe('responses of the sink', () => {
  const first = { 'X-Message-Id': 'm-1' }

  it.each<[string, SinkOptions, (number | undefined)[]]>([
    ['200 by default', {}, [200, 200]],
    ['one response for all', { answers: [404] }, [404, 404]],
    ['in turn, then the last one', { answers: [500, 503, 200] }, [500, 503, 200, 200]],
    ['resets in turn', { answers: ['reset', 200] }, [undefined, 200]],
    ['every n-th request reset', { resetEvery: 3 }, [200, 200, undefined, 200, 200, undefined]],
    ['a reset uses up no response', { answers: [500, 200], resetEvery: 2 }, [500, undefined, 200, undefined]],
    ['every request reset', { resetEvery: 1 }, [undefined, undefined]],
  ])('%s', async (_name, options, expected) => {
    const { post } = await startSink(options)
    const statuses: (number | undefined)[] = []
    for (const _ of expected) statuses.push((await post('{}', first)).status)
    expect(statuses).toEqual(expected)
  })

  it('are counted separately for each message and path', async () => {
    const { post } = await startSink({ answers: [500, 200] })
    const tries: [string, string][] = [
      ['m-1', '/a'],
      ['m-2', '/a'],
      ['m-1', '/b'],
      ['m-1', '/a'],
      ['m-2', '/a'],
    ]
    const statuses: unknown[] = []
    for (const [id, path] of tries) statuses.push((await post('{}', { 'X-Message-Id': id }, path)).status)
    expect(statuses).toEqual([500, 500, 500, 200, 200])
  })

  it('match attempts by the body when there is no message id', async () => {
    const { post } = await startSink({ answers: [500, 200] })
    const statuses: unknown[] = []
    for (const body of ['{"x":1}', '{"x":2}', '{"x":1}']) statuses.push((await post(body)).status)
    expect(statuses).toEqual([500, 500, 200])
  })

  it.each<[SinkAnswer, string | undefined]>([
    [500, '30'],
    [429, '30'],
    [302, '30'],
    [200, undefined],
    [204, undefined],
  ])('%d has Retry-After %s', async (status, expected) => {
    const { post } = await startSink({ answers: [status], retryAfter: 30 })
    expect((await post('{}')).headers['retry-after']).toBe(expected)
  })

  it('record and count a request whose connection is reset', async () => {
    const { sink, seen, post } = await startSink({ answers: ['reset'] })
    expect(await post('{}', first)).toEqual({ status: undefined, headers: {}, error: 'ECONNRESET' })
    expect(seen).toMatchObject([{ answer: 'reset', messageId: 'm-1' }])
    expect(await sink.stop()).toMatchObject({ received: 1 })
  })

  it('never arrive for a hanging request, and stop closes its connection', async () => {
    const noted = Promise.withResolvers<void>()
    const { sink, post } = await startSink({ answers: ['hang'], onRequest: () => noted.resolve() })
    const answer = post('{}')
    await noted.promise
    expect(await Promise.race([answer, new Promise(resolve => setImmediate(resolve, 'none'))])).toBe('none')
    await sink.stop()
    expect(await answer).toMatchObject({ error: 'ECONNRESET' })
  })
})

describe('latency', () => {
  /** The promise `set` resolves when a timer is set. */
  class WatchedClock extends ManualClock {
    readonly set = Promise.withResolvers<void>()

    override after(delay: number, run: () => void): () => void {
      const cancel = super.after(delay, run)
      this.set.resolve()
      return cancel
    }
  }

  it.each<[SinkAnswer, Partial<Answer>]>([
    [200, { status: 200 }],
    ['reset', { error: 'ECONNRESET' }],
  ])('passes before %s', async (answer, expected) => {
    const clock = new WatchedClock()
    const { post } = await startSink({ answers: [answer], latency: durationMs(20), clock })
    const answered = post('{}')
    await clock.set.promise
    await clock.advance(19)
    expect(clock.timers).toBe(1)
    await clock.advance(1)
    expect(await answered).toMatchObject(expected)
    expect(clock.timers).toBe(0)
  })

  it('leaves no timer when the client has closed the connection', async () => {
    const clock = new WatchedClock()
    const { sink, post } = await startSink({ latency: durationMs(20), clock })
    const answered = post('{}')
    await clock.set.promise
    await sink.stop()
    await answered
    expect(clock.timers).toBe(0)
  })
})
