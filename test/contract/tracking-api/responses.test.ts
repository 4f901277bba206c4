import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { problemStatus } from '../../../src/adapters/http/response-codes-and-bodies.ts'
import type { TrackingAnswer } from '../../../src/core/collector/tracking-api.ts'
import { type RejectionCode, rejectionCodes } from '../../../src/core/message/message-rejection.ts'
import { type RefusalCode, type RejectedMessage, refusal } from '../../../src/core/message/request-refusal.ts'
import { expectAsDocumented } from '../../support/collector/openapi-conformance.ts'
import {
  expectAnswer,
  expectHealthy,
  problem,
  startCollector,
  taken,
} from '../../support/collector/raw-request-harness.ts'
import { ScriptedTrackingApi } from '../../support/collector/scripted-tracking-api.ts'
import { post } from '../../support/network/http-request-bytes.ts'
import { connect, type WireAnswer } from '../../support/network/raw-http-client.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'

const api = new ScriptedTrackingApi()
const errors: [object, string][] = []
let collector: Awaited<ReturnType<typeof startCollector>>

beforeAll(async () => {
  const error = (fields: object, line: string): void => void errors.push([fields, line])
  collector = await startCollector(api, { logger: { ...silent, error } })
})
afterAll(() => collector.stop())
afterEach(async () => {
  await expectHealthy(collector.url, api)
  errors.length = 0
})

/** Returns the HTTP response to a request for which the scripted API returns this result. */
async function answerTo(
  answer: TrackingAnswer | (() => TrackingAnswer | Promise<TrackingAnswer>),
): Promise<WireAnswer> {
  api.answer(typeof answer === 'function' ? answer : () => answer)
  const wire = await connect(collector.url)
  await wire.send(post('/v1/batch', {}, '{"secret":"s3cret"}'))
  const written = await wire.answer()
  wire.reset()
  return written
}

const rejected = (index: number, code: RejectionCode, messageId?: string): RejectedMessage => ({
  index,
  messageId,
  code,
  message: `'field' is wrong: ${code}.`,
})

describe('results of the API', () => {
  it.each([
    'invalid_json',
    'invalid_body',
    'rejected',
    'invalid_write_key',
    'payload_too_large',
    'rate_limited',
    'unavailable',
  ] as const)('%s', async code => {
    const answer = await answerTo(refusal(code, 'Do something else instead.'))
    expectAnswer(answer, problem(problemStatus[code], code))
    expectAsDocumented('POST /v1/batch', answer)
    expect(JSON.parse(answer.body).message).toBe('Do something else instead.')
  })

  it.each<[RefusalCode, number, string]>([
    ['rate_limited', 12, '12'],
    ['rate_limited', 0.01, '1'],
    ['unavailable', 2.5, '3'],
  ])('%s with Retry-After %d s', async (code, retryAfter, header) => {
    const answer = await answerTo(refusal(code, 'Send it again later.', { retryAfter }))
    expect(answer.headers['retry-after']).toBe(header)
  })

  it.each(rejectionCodes)('reports one rejected message of a batch: %s', async code => {
    const answer = await answerTo({ kind: 'accepted', rejected: [rejected(3, code, 'm-3')] })
    expectAnswer(answer, {
      status: 200,
      body: `{"success":true,"rejected":[{"index":3,"messageId":"m-3","code":"${code}","message":"'field' is wrong: ${code}."}]}`,
    })
    expectAsDocumented('POST /v1/batch', answer)
  })

  it('reports a rejected message without an id', async () => {
    const { body } = await answerTo({ kind: 'accepted', rejected: [rejected(0, 'not_an_object')] })
    expect(JSON.parse(body).rejected).toEqual([
      { index: 0, code: 'not_an_object', message: "'field' is wrong: not_an_object." },
    ])
  })

  it('2,500 rejections', async () => {
    const all = Array.from({ length: 2_500 }, (_, index) => rejected(index, 'missing_event', `m-${index}`))
    const answer = await answerTo({ kind: 'accepted', rejected: all })
    expect(JSON.parse(answer.body)).toEqual({ success: true, rejected: all })
  })

  it('strict mode: stores nothing and reports the reasons', async () => {
    const answer = await answerTo(
      refusal('rejected', 'Nothing of the batch was taken.', { rejected: [rejected(1, 'too_deep', 'm-1')] }),
    )
    expectAnswer(answer, problem(400, 'rejected'))
    expectAsDocumented('POST /v1/batch', answer)
    expect(JSON.parse(answer.body).rejected).toEqual([rejected(1, 'too_deep', 'm-1')])
  })

  it('non-ASCII text, with its length in bytes', async () => {
    const answer = await answerTo(refusal('invalid_body', 'Größe 😀 fehlt in der Nachricht.'))
    expectAnswer(answer, problem(400, 'invalid_body'))
  })
})

describe('errors and disconnections', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('a bug')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('a bug')
      },
    ],
    [
      'rejects with something else',
      async () => {
        throw 'a bug'
      },
    ],
  ] as const)('the API %s: 500, with details only in the log', async (_, script) => {
    const answer = await answerTo(script)
    expectAnswer(answer, problem(500, 'internal_error'))
    expectAsDocumented('POST /v1/batch', answer)
    expect(answer.body).not.toContain('bug')
    expect(errors).toEqual([
      [
        expect.objectContaining({ route: '/v1/batch', error: 'a bug' }),
        'hookline could not process an HTTP request because of a bug in hookline, and responds with 500 (report this line)',
      ],
    ])
    expect(JSON.stringify(errors)).not.toContain('s3cret')
  })

  it('the client disconnects before the response: the messages are stored and nothing leaks', async () => {
    const waiting = Promise.withResolvers<TrackingAnswer>()
    api.answer(() => waiting.promise)
    const wire = await connect(collector.url)
    await wire.send(post('/v1/batch', {}, '{}'))
    await api.until(() => api.requests.length === 1)
    wire.reset()
    expect(api.reserved).toBe(2)
    waiting.resolve({ kind: 'accepted', rejected: [] })
    await api.until(() => api.reserved === 0)
  })

  it('two pipelined requests, the first of them slower: the responses keep their order', async () => {
    const first = Promise.withResolvers<TrackingAnswer>()
    api.answer(({ body }) => (body === '1' ? first.promise : refusal('invalid_body', 'It is the second one.')))
    const wire = await connect(collector.url)
    await wire.send(Buffer.concat([post('/v1/t', {}, '1'), post('/v1/t', {}, '2')]))
    await api.until(() => api.requests.length === 2)
    first.resolve({ kind: 'accepted', rejected: [] })
    expectAnswer(await wire.answer(), taken)
    expectAnswer(await wire.answer(), problem(400, 'invalid_body'))
    wire.reset()
  })

  it('invalid data after a request in progress: it is answered, then the connection closes', async () => {
    const waiting = Promise.withResolvers<TrackingAnswer>()
    api.answer(() => waiting.promise)
    const wire = await connect(collector.url)
    await wire.send(Buffer.concat([post('/v1/t'), Buffer.from('rubbish\r\n\r\n')]))
    await api.until(() => api.requests.length === 1)
    await wire.send('more rubbish\r\n\r\n')
    waiting.resolve({ kind: 'accepted', rejected: [] })
    expectAnswer(await wire.answer(), { ...taken, close: true })
    await wire.closed
    wire.reset()
  })
})

describe('the metric of responses', () => {
  it('counts each response by its code, also responses to invalid requests', async () => {
    const counted = await startCollector(new ScriptedTrackingApi())
    for (const [bytes, answers] of [
      [post('/v1/t'), 1],
      [Buffer.concat([post('/v1/t'), post('/nothing')]), 2],
      ['rubbish\r\n\r\n', 1],
      ['OPTIONS /v1/t HTTP/1.1\r\nHost: a\r\nOrigin: https://a\r\nAccess-Control-Request-Method: POST\r\n\r\n', 1],
    ] as const) {
      const wire = await connect(counted.url)
      await wire.send(bytes)
      for (let count = 0; count < answers; count += 1) await wire.answer()
      wire.reset()
    }
    expect(await counted.answered()).toEqual({ ok: 2, not_found: 1, malformed_request: 1, preflight: 1 })
    await counted.stop()
  })
})
