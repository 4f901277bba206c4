import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { durationMs } from '../../../../src/core/time.ts'
import { expectHealthy, startCollector } from '../../../support/collector/raw-request-harness.ts'
import { ScriptedTrackingApi } from '../../../support/collector/scripted-tracking-api.ts'
import { basic, chunk, post, request } from '../../../support/network/http-request-bytes.ts'
import { connect } from '../../../support/network/raw-http-client.ts'

const api = new ScriptedTrackingApi()
let collector: Awaited<ReturnType<typeof startCollector>>
beforeAll(async () => {
  collector = await startCollector(api, {
    // All other timeouts are long, so that a pause of the machine has no effect.
    limits: { linger: { time: durationMs(30), bytes: 65_536 } },
  })
})
afterAll(() => collector.stop())

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...new Set(at.map(each => each % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

const text = fc.string({ unit: 'binary', maxLength: 3_000 }).map(each => each.toWellFormed().replace(/^\ufeff/, ''))
const cuts = fc.array(fc.nat(), { maxLength: 6 })

describe('a body has the same result for any way of sending', () => {
  it('plain or gzip, with a length or chunked, in any packets', async () => {
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.boolean(),
        fc.boolean(),
        cuts,
        cuts,
        async (body, isGzip, isChunked, chunks, writes) => {
          api.forget()
          const bytes = isGzip ? gzipSync(body) : Buffer.from(body)
          const framed = isChunked
            ? Buffer.concat([
                ...cut(bytes, chunks)
                  .filter(each => each.length > 0)
                  .map(chunk),
                Buffer.from('0\r\n\r\n'),
              ])
            : bytes
          const headers = { Authorization: basic('KEY'), ...(isChunked && { 'Transfer-Encoding': 'chunked' }) }
          const wire = await connect(collector.url)
          for (const piece of cut(request('POST /v1/t', headers, framed), writes)) await wire.send(piece)
          expect((await wire.answer()).status).toBe(200)
          wire.reset()
          expect(api.requests).toMatchObject([{ type: 'track', headerKey: 'KEY', body }])
        },
      ),
      { numRuns: 150 },
    )
  })
})

const good = [
  post('/v1/batch', { Authorization: basic('KEY') }, '{"batch":[]}'),
  Buffer.concat([request('POST /v1/t', { 'Transfer-Encoding': 'chunked' }), chunk('{}'), Buffer.from('0\r\n\r\n')]),
  post('/v1/b', {}, gzipSync('{"batch":[]}')),
  request('GET /v1/projects/KEY/settings', { Origin: 'https://a' }),
  Buffer.concat([post('/v1/t'), request('OPTIONS /v1/p'), post('/v1/i', { Expect: '100-continue' })]),
]
const mutation = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), to: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), to: fc.nat({ max: 40 }) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(), to: fc.nat({ max: 200 }) }),
)

function mutate(bytes: Buffer, { kind, at, to }: { kind: 'flip' | 'cut' | 'repeat'; at: number; to: number }): Buffer {
  const place = at % Math.max(1, bytes.length)
  switch (kind) {
    case 'flip':
      return Buffer.concat([bytes.subarray(0, place), Buffer.of(to), bytes.subarray(place + 1)])
    case 'cut':
      return Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + to)])
    case 'repeat':
      return Buffer.concat([bytes.subarray(0, place + to), bytes.subarray(place)])
  }
}

describe('a damaged request', () => {
  it('gets a JSON response or a closed connection, and leaves the server usable and without leaks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...good),
        fc.array(mutation, { minLength: 1, maxLength: 4 }),
        async (bytes, mutations) => {
          const wire = await connect(collector.url)
          await wire.send(mutations.reduce(mutate, bytes))
          wire.end()
          // When the client has closed its side, the server sends the pending responses and closes
          // its own.
          await wire.closed
          for (const [, length = '', rest = ''] of wire.unread.matchAll(
            /content-length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n(.*)/gis,
          ))
            if (length !== '0' && rest !== '') expect(rest).toMatch(/^(\{|HTTP\/1\.1 )/)
          expect(wire.unread).toMatch(/^(HTTP\/1\.1 \d{3} |$)/)
          wire.reset()
        },
      ),
      { numRuns: 400 },
    )
    await expectHealthy(collector.url, api)
    const { internal_error: bugs = 0 } = await collector.answered()
    expect(bugs).toBe(0)
  })
})
