import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { durationMs } from '../../../src/core/time.ts'
import type { ResponseBody } from '../../../src/core/webhook-ports.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { afterRequest, answer, answering, flood } from '../../support/webhook/scripted-tcp-server.ts'
import { adapters, answered, caller, receiver } from './tested-transports-and-servers.ts'

const kib = 1_024
const keepBodyBytes = 4 * kib
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`
const body = (text: string, more: Partial<ResponseBody> = {}): ResponseBody => ({
  bytes: Buffer.from(text),
  isTruncated: false,
  contentEncoding: undefined,
  ...more,
})
const cut = (length = keepBodyBytes): ResponseBody => body('a'.repeat(length), { isTruncated: true })

describe.each(adapters)('%s: a body of which the caller asks for 4 KiB', (_, create) => {
  it.each<[string, string, ResponseBody]>([
    ['none', answer(200), body('')],
    ['a short one', answer(200, {}, 'ok: Ü'), body('ok: Ü')],
    ['in chunks', `${chunked}${chunk(3)}${chunk(2)}0\r\n\r\n`, body('aaaaa')],
    ['exactly 4 KiB', answer(200, {}, 'a'.repeat(keepBodyBytes)), body('a'.repeat(keepBodyBytes))],
    ['a byte more', answer(200, {}, 'a'.repeat(keepBodyBytes + 1)), cut()],
    ['over 64 KiB', answer(200, {}, 'a'.repeat(100 * kib)), cut()],
    ['over 64 KiB in chunks', `${chunked}${chunk(80 * kib)}0\r\n\r\n`, cut()],
  ])('is in the result: %s', async (_name, text, expected) => {
    const target = await receiver(answering(text))
    const { post } = caller(create)
    expect(await post(target.url(), {}, { keepBodyBytes })).toEqual({ ...answered(200), body: expected })
  })

  it('is not in the result of a call that does not ask', async () => {
    const target = await receiver(answering(answer(200, {}, 'ok')))
    const { post } = caller(create)
    expect(await post(target.url(), {}, { keepBodyBytes })).toHaveProperty('body')
    expect(await post(target.url())).not.toHaveProperty('body')
    expect(target.connections()).toBe(1)
  })

  it('is that of a redirect, which is not followed', async () => {
    const target = await receiver(answering(answer(302, { Location: 'http://127.0.0.1:1/' }, 'moved')))
    expect(await caller(create).post(target.url(), {}, { keepBodyBytes })).toEqual({
      ...answered(302),
      body: body('moved'),
    })
  })

  it('stays compressed, with its encoding', async () => {
    const zipped = gzipSync('ok')
    const target = await receiver(
      afterRequest(peer => {
        peer.send(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n\r\n`)
        peer.send(zipped)
      }),
    )
    expect(await caller(create).post(target.url(), {}, { keepBodyBytes })).toEqual({
      ...answered(200),
      body: body('', { bytes: zipped, contentEncoding: 'gzip' }),
    })
  })

  it('ends at the time limit, with what has arrived', async () => {
    const target = await receiver(afterRequest(peer => peer.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\naaa')))
    const other = await receiver(answering(answer(200)))
    const clock = new ManualClock()
    const { post } = caller(create, { clock })
    const call = post(target.url(), {}, { keepBodyBytes, timeoutMs: durationMs(300) })
    await target.received(1)
    // The transport reads these responses after the one that arrived before.
    for (let fence = 0; fence < 2; fence++) await post(other.url())
    await clock.advance(300)
    expect(await call).toEqual({ ...answered(200), body: cut(3) })
  })

  it('is cut when the connection is reset', async () => {
    const target = await receiver(
      afterRequest(async peer => {
        await new Promise(resolve => peer.socket.write('HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\naaa', resolve))
        peer.end()
      }),
    )
    expect(await caller(create).post(target.url(), {}, { keepBodyBytes })).toEqual({ ...answered(500), body: cut(3) })
  })

  it('is cut early when it is endless', async () => {
    const sent = Promise.withResolvers<number>()
    const target = await receiver(flood('HTTP/1.1 200 OK\r\n\r\n', 'a'.repeat(16 * kib))(sent.resolve))
    expect(await caller(create).post(target.url(), {}, { keepBodyBytes })).toEqual({ ...answered(200), body: cut() })
    expect(await sent.promise).toBeLessThan(16 * kib * kib)
  })

  it('is absent when there is no response', async () => {
    const target = await receiver(afterRequest(peer => peer.end()))
    const result = await caller(create).post(target.url(), {}, { keepBodyBytes })
    expect(result.kind).toBe('failed')
    expect(result).not.toHaveProperty('body')
  })
})
