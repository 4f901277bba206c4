import { afterEach, describe, expect, it } from '@jest/globals'
import type { TrackingAnswer } from '../../../../src/core/collector/tracking-api.ts'
import { refusal } from '../../../../src/core/message/request-refusal.ts'
import { startCollector } from '../../../support/collector/raw-request-harness.ts'
import { rateLimited, ScriptedTrackingApi } from '../../../support/collector/scripted-tracking-api.ts'
import {
  operatorKey,
  readKey,
  ScriptedOperatorApi,
} from '../../../support/operator/scripted-deletion-and-audience-api.ts'
import { startOperator } from '../../../support/operator/server.ts'
import { RecordedSpans } from '../../../support/telemetry/recorded-spans.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'
import { traceparent } from '../../../support/telemetry/traceparent.ts'

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of open.splice(0)) await stop()
})

async function startTraced(api: ScriptedTrackingApi) {
  const spans = new RecordedSpans()
  const { url, stop } = await startCollector(api, { tracer: spans.tracer, maxBodyBytes: 1_000 })
  open.push(stop)
  return { url, spans }
}

/** By default, the service accepts everything. */
async function exchange(headers: Record<string, string>, answer?: () => TrackingAnswer, isTraced = true) {
  const spans = new RecordedSpans()
  const api = new ScriptedTrackingApi()
  const logger = new RecordingLogger()
  if (answer !== undefined) api.answer(answer)
  const server = await startCollector(api, { logger, tracer: isTraced ? spans.tracer : undefined })
  open.push(server.stop)
  const keyed = { 'x-write-key': 'KEY', ...headers }
  await (await fetch(`${server.url}/v1/track`, { method: 'POST', headers: keyed, body: '{}' })).text()
  return { spans: spans.all, trace: api.requests[0]?.trace, logger }
}

it.each<[string, Record<string, string>, object]>([
  [
    'a child of the span that its client names',
    { traceparent: traceparent('a') },
    { traceId: 'a'.repeat(32), parent: 'a'.repeat(16) },
  ],
  ['the first of a new trace', {}, { parent: undefined }],
  ['the first of a new trace when traceparent is invalid', { traceparent: 'what?' }, { parent: undefined }],
  ['not in a trace of another format', { b3: `${'a'.repeat(32)}-${'a'.repeat(16)}-1` }, { parent: undefined }],
])('the span of a request is %s; storing is a child span', async (_, headers, expected) => {
  const { spans, trace } = await exchange(headers)
  expect(spans).toEqual([expect.objectContaining({ name: 'POST /v1/track', kind: 'server', links: [], ...expected })])
  const [span] = spans
  expect(span?.facts).toEqual({
    ...{ 'http.request.method': 'POST', 'http.route': '/v1/track', 'http.response.status_code': 200 },
  })
  expect(trace?.traceparent).toBe(`00-${span?.traceId}-${span?.spanId}-01`)
})

it('propagates tracestate but no baggage', async () => {
  const { trace } = await exchange({ traceparent: traceparent('a'), tracestate: 'vendor=1', baggage: 'user=somebody' })
  expect(trace).toEqual({ traceparent: expect.stringMatching(/^00-a{32}-/), tracestate: 'vendor=1' })
})

it.each([
  ['a server error has an error status', 'unavailable', 503, true],
  ['a client error has no error status', 'rate_limited', 429, false],
] as const)('the span of %s', async (_, code, status, hasFailed) => {
  const { spans } = await exchange({}, () => refusal(code, 'Later.', { retryAfter: 1 }))
  expect(spans).toEqual([expect.objectContaining({ hasFailed })])
  expect(spans[0]?.facts).toMatchObject({ 'http.response.status_code': status })
  expect(spans[0]?.facts['error.type']).toBe(hasFailed ? code : undefined)
})

describe('a request without a valid write key', () => {
  async function spansOf(api: ScriptedTrackingApi, path: string, init: RequestInit = {}) {
    const { url, spans } = await startTraced(api)
    const headers = { traceparent: traceparent('a'), ...init.headers }
    const response = await fetch(`${url}${path}`, { method: 'POST', body: '{}', ...init, headers })
    return { status: response.status, spans: spans.all.length }
  }
  const unknown = refusal('invalid_write_key', 'Unknown.')

  it('has no span, whatever the response', async () => {
    const api = new ScriptedTrackingApi()
    api.admission = () => unknown
    api.answer(() => unknown)
    const inBody = JSON.stringify({ writeKey: 'WRONG' })
    const anonymous = '/v1/track'
    for (const [path, init, status] of [
      [anonymous, {}, 401],
      [anonymous, { headers: { 'x-write-key': 'WRONG' } }, 401],
      [`${anonymous}?writeKey=WRONG`, {}, 401],
      [anonymous, { body: inBody }, 401],
      [anonymous, { body: 'x'.repeat(2_000) }, 413],
    ] as const)
      expect(await spansOf(api, path, init)).toEqual({ status, spans: 0 })
  })

  it('has no span when there is no memory for its body', async () => {
    const api = new ScriptedTrackingApi()
    api.budget = 0
    expect(await spansOf(api, '/v1/track')).toEqual({ status: 503, spans: 0 })
  })
})

it.each([
  ['in a header', '/v1/track', { headers: { 'x-write-key': 'KEY' } }],
  ['in the query', '/v1/track?writeKey=KEY', {}],
  ['in the body', '/v1/track', { body: '{"writeKey":"KEY"}' }],
])('a refused request has a span when its write key %s is valid', async (_, path, init) => {
  const api = new ScriptedTrackingApi()
  api.admission = () => rateLimited
  api.answer(() => rateLimited)
  const { url, spans } = await startTraced(api)
  const response = await fetch(`${url}${path}`, { method: 'POST', body: '{}', ...init })
  expect([response.status, spans.all.map(({ facts }) => facts['http.response.status_code'])]).toEqual([429, [429]])
})

it('a request has a span when an error occurs after its write key was found in the body', async () => {
  const api = new ScriptedTrackingApi()
  api.answer(({ assign }) => {
    assign('web')
    throw new Error('a bug')
  })
  const { url, spans } = await startTraced(api)
  const response = await fetch(`${url}/v1/track`, { method: 'POST', body: '{"writeKey":"KEY"}' })
  expect([response.status, spans.all.map(({ facts }) => facts['error.type'])]).toEqual([500, ['internal_error']])
})

it('logs the trace id of an internal error', async () => {
  const { spans, logger } = await exchange({ traceparent: traceparent('a') }, () => {
    throw new Error('a bug')
  })
  expect(spans[0]?.facts['error.type']).toBe('internal_error')
  expect(logger.lines.map(({ fields }) => fields)).toEqual([
    expect.objectContaining({ error: 'a bug', traceId: 'a'.repeat(32) }),
  ])
})

it('propagates nothing when tracing is off', async () => {
  const { spans, trace } = await exchange({ traceparent: traceparent('a') }, undefined, false)
  expect([spans, trace]).toEqual([[], undefined])
})

describe('a request to the operator API', () => {
  /** Without `operator`, the server has no operator API. */
  async function ask(path: string, init: RequestInit = {}, operator: ScriptedOperatorApi | undefined = undefined) {
    const spans = new RecordedSpans(0)
    const logger = new RecordingLogger()
    const server = await startCollector(new ScriptedTrackingApi(), {
      ...{ logger, tracer: spans.tracer },
      ...(operator !== undefined && { operator }),
    })
    open.push(server.stop)
    const headers = { authorization: `Bearer ${operatorKey}`, traceparent: traceparent('a'), ...init.headers }
    await (await fetch(`${server.url}${path}`, { ...init, headers })).text()
    return { spans: spans.all, logger }
  }

  it.each<[string, string, string, RequestInit, number, boolean]>([
    ['a deletion', 'POST', '/v1/regulations', { body: '{}' }, 202, true],
    ['a status query', 'GET', '/v1/regulations/d-1', {}, 200, false],
    ['a sync', 'POST', '/v1/audiences/Shoppers/syncs', { body: 'ada' }, 202, true],
    ['a refused sync', 'POST', '/v1/audiences/nobody/syncs', { body: 'ada' }, 404, false],
  ])('%s has a span; its follow-up work is linked to it', async (_, method, path, init, status, leadsOn) => {
    const operator = new ScriptedOperatorApi()
    const { spans } = await ask(path, { method, ...init }, operator)
    const route = path.replace(/(?<=regulations\/).+/, ':id').replace(/(?<=audiences\/)\w+/, ':name')
    expect(spans).toEqual([
      expect.objectContaining({
        ...{ name: `${method} ${route}`, kind: 'server', traceId: 'a'.repeat(32), parent: 'a'.repeat(16) },
        ...{ links: [], hasFailed: false },
        facts: { 'http.request.method': method, 'http.route': route, 'http.response.status_code': status },
      }),
    ])
    const [{ traceId, spanId }] = spans as [(typeof spans)[number]]
    const told = { traceparent: `00-${traceId}-${spanId}-01`, tracestate: undefined }
    expect(operator.traces).toEqual(leadsOn ? [told] : [])
  })

  async function startTracedOperator() {
    const spans = new RecordedSpans()
    const { url, stop } = await startOperator(new ScriptedOperatorApi(), { tracer: spans.tracer })
    open.push(stop)
    return { url, spans }
  }

  it('has a span when it signs in with a valid key', async () => {
    const { url, spans } = await startTracedOperator()
    const statuses: unknown[] = []
    for (const key of ['wrong', operatorKey]) {
      const body = JSON.stringify({ key })
      statuses.push((await fetch(`${url}/v1/session`, { method: 'POST', body })).status)
    }
    expect(statuses).toEqual([401, 200])
    expect(spans.all.map(({ facts }) => facts['http.response.status_code'])).toEqual([200])
  })

  it('has a span when the role of its key does not allow the method', async () => {
    const { url, spans } = await startTracedOperator()
    const headers = { authorization: `Bearer ${readKey}` }
    const response = await fetch(`${url}/v1/regulations`, { method: 'POST', body: '{}', headers })
    expect([response.status, spans.all.map(({ facts }) => facts['http.response.status_code'])]).toEqual([403, [403]])
  })

  it('has no span without the key, or while that API is off', async () => {
    const wrongKey = { headers: { authorization: 'Bearer x' } }
    expect((await ask('/v1/regulations/d-1', wrongKey, new ScriptedOperatorApi())).spans).toEqual([])
    expect((await ask('/v1/regulations/d-1')).spans).toEqual([])
  })

  it('logs the trace id of an internal error', async () => {
    const operator = new ScriptedOperatorApi()
    operator.findDeletion = () => Promise.reject(new Error('a bug'))
    const { spans, logger } = await ask('/v1/regulations/d-1', {}, operator)
    expect(spans[0]?.facts['error.type']).toBe('internal_error')
    expect(logger.lines.map(({ fields }) => [fields['error'], fields['traceId']])).toEqual([['a bug', 'a'.repeat(32)]])
  })
})
