import { describe, expect, it } from '@jest/globals'
import { classify } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { afterRequest, answer, answering, flood } from '../../support/webhook/scripted-tcp-server.ts'
import { adapters, answered, caller, receiver } from './tested-transports-and-servers.ts'

const head = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n'

describe.each(adapters)('%s: no valid response', (_, create) => {
  it.each([
    ['an SSH banner', 'SSH-2.0-OpenSSH_9.6\r\n', 'bad_response'],
    ['bytes', Buffer.from([0x16, 0x03, 0x01, 0x00, 0xff, 0x00]), 'bad_response'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'bad_response'],
    ['a head over 16 KiB', `${head}X-Flood: ${'a'.repeat(17_000)}\r\n\r\n`, 'bad_response'],
    ['a head of many lines over 16 KiB', `${head}${'X-Flood: aaaaaaaaaa\r\n'.repeat(1_000)}\r\n`, 'bad_response'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 'bad_response'],
    ['33 interim responses', `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(33)}${answer(200)}`, 'bad_response'],
    [
      'an interim response over 16 KiB',
      `HTTP/1.1 103 Early Hints\r\nLink: ${'a'.repeat(17_000)}\r\n\r\n`,
      'bad_response',
    ],
    ['an incomplete interim head, then the end', 'HTTP/1.1 103 Early', 'reset'],
    ['an incomplete head, then the end', 'HTTP/1.1 200 OK\r\nContent-Le', 'reset'],
    ['an incomplete status line, then the end', 'HTTP/1.', 'reset'],
    ['an immediate end', '', 'reset'],
  ])('%s', async (_name, bytes, outcome) => {
    const target = await receiver(
      afterRequest(peer => {
        peer.send(bytes)
        peer.end()
      }),
    )
    const { post, ends } = caller(create)
    const result = await post(target.url('/hook?token=hush'), { Authorization: 'Bearer hush' })
    expect(result).toMatchObject({ kind: 'failed', phase: 'exchange' })
    expect(classify(result)).toBe(outcome)
    expect(JSON.stringify(result)).not.toContain('hush')
    expect(ends).toEqual([[result]])
    expect(target.requests).toHaveLength(1)
  })

  it.each([
    ['reason phrase', flood('HTTP/1.1 200 ', 'a'.repeat(16 * 1_024))],
    ['header', flood(`${head}X-Flood: `, 'a'.repeat(16 * 1_024))],
    ['series of line ends', flood('', '\r\n'.repeat(8 * 1_024))],
    ['series of interim responses', flood('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500))],
  ])('an endless %s is cut off early', async (_name, script) => {
    const sent = Promise.withResolvers<number>()
    const target = await receiver(script(sent.resolve))
    const { post, ends } = caller(create)
    const result = await post(target.url())
    expect(result).toMatchObject({ kind: 'failed', phase: 'exchange', code: 'HPE_HEADER_OVERFLOW' })
    expect(classify(result)).toBe('bad_response')
    // The bound is high, because the server also counts bytes in kernel buffers.
    expect(await sent.promise).toBeLessThan(16 * 1_024 * 1_024)
    expect(ends).toEqual([[result]])
  })

  it('a head of just under 16 KiB is valid', async () => {
    const target = await receiver(answering(`${head}X-Flood: ${'a'.repeat(16_000)}\r\n\r\n`))
    expect(await caller(create).post(target.url())).toEqual(answered(200))
  })

  it.each([
    ['before the head', ''],
    ['within the head', 'HTTP/1.1 200 OK\r\nContent-Le'],
  ])('a reset %s on a new connection is not repeated', async (_name, bytes) => {
    const target = await receiver(
      afterRequest(async peer => {
        if (bytes !== '') await new Promise(resolve => peer.socket.write(bytes, resolve))
        peer.reset()
      }),
    )
    const result = await caller(create).post(target.url())
    expect(result).toMatchObject({ kind: 'failed', phase: 'exchange', code: 'ECONNRESET' })
    expect(target.connections()).toBe(1)
  })

  it('a refused connection', async () => {
    const target = await receiver(answering(answer(200)))
    await target.close()
    expect(await caller(create).post(target.url())).toEqual({
      kind: 'failed',
      phase: 'connect',
      code: 'ECONNREFUSED',
      detail: `connect ECONNREFUSED 127.0.0.1:${target.port}`,
    })
  })

  it('an invalid URL or header fails without a connection, as an internal error', async () => {
    const { post } = caller(create)
    expect(classify(await post('no url'))).toBe('internal')
    expect(classify(await post('http://127.0.0.1:9/', { 'a\nb': 'c' }))).toBe('internal')
  })
})
