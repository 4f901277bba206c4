import { afterEach, describe, expect, it } from '@jest/globals'
import type { TrackingAnswer } from '../../../../src/core/collector/tracking-api.ts'
import { refusal } from '../../../../src/core/message/refusal.ts'
import { startCollector } from '../../../support/collector/cases.ts'
import { ScriptedTrackingApi } from '../../../support/collector/scripted-tracking-api.ts'
import { operatorKey, ScriptedOperatorApi } from '../../../support/operator/scripted-operator-api.ts'
import { RecordedSpans } from '../../../support/telemetry/recorded-spans.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'
import { traceparent } from '../../../support/telemetry/traceparent.ts'

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of open.splice(0)) await stop()
})

/** One request; `answer` undefined: the service takes everything. */
async function exchange(headers: Record<string, string>, answer?: () => TrackingAnswer, isTraced = true) {
  const spans = new RecordedSpans()
  const api = new ScriptedTrackingApi()
  const logger = new RecordingLogger()
  if (answer !== undefined) api.answer(answer)
  const server = await startCollector(api, { logger, tracer: isTraced ? spans.tracer : undefined })
  open.push(server.stop)
  await (await fetch(`${server.url}/v1/track`, { method: 'POST', headers, body: '{}' })).text()
  return { spans: spans.all, trace: api.requests[0]?.trace, logger }
}

it.each<[string, Record<string, string>, object]>([
  [
    'a part of what its sender names',
    { traceparent: traceparent('a') },
    { traceId: 'a'.repeat(32), parent: 'a'.repeat(16) },
  ],
  ['a trace of its own', {}, { parent: undefined }],
  ['a trace of its own: what its sender names is broken', { traceparent: 'what?' }, { parent: undefined }],
  ['no part of another scheme’s trace', { b3: `${'a'.repeat(32)}-${'a'.repeat(16)}-1` }, { parent: undefined }],
])('a request is %s; storing is a part of it', async (_, headers, expected) => {
  const { spans, trace } = await exchange(headers)
  expect(spans).toEqual([expect.objectContaining({ name: 'POST /v1/track', kind: 'server', links: [], ...expected })])
  const [span] = spans
  expect(span?.facts).toEqual({
    ...{ 'http.request.method': 'POST', 'http.route': '/v1/track', 'http.response.status_code': 200 },
  })
  expect(trace?.traceparent).toBe(`00-${span?.traceId}-${span?.spanId}-01`)
})

it('takes what vendors say of the trace along, and no baggage', async () => {
  const { trace } = await exchange({ traceparent: traceparent('a'), tracestate: 'vendor=1', baggage: 'user=somebody' })
  expect(trace).toEqual({ traceparent: expect.stringMatching(/^00-a{32}-/), tracestate: 'vendor=1' })
})

it.each([
  ['ours has failed', 'unavailable', 503, true],
  ['the sender’s has not', 'rate_limited', 429, false],
] as const)('a refusal that is %s', async (_, code, status, hasFailed) => {
  const { spans } = await exchange({}, () => refusal(code, 'Later.', { retryAfter: 1 }))
  expect(spans).toEqual([expect.objectContaining({ hasFailed })])
  expect(spans[0]?.facts).toMatchObject({ 'http.response.status_code': status })
  expect(spans[0]?.facts['error.type']).toBe(hasFailed ? code : undefined)
})

it('a bug: the log has the trace', async () => {
  const { spans, logger } = await exchange({ traceparent: traceparent('a') }, () => {
    throw new Error('a bug')
  })
  expect(spans[0]?.facts['error.type']).toBe('internal_error')
  expect(logger.lines.map(({ fields }) => fields)).toEqual([
    expect.objectContaining({ error: 'a bug', traceId: 'a'.repeat(32) }),
  ])
})

it('without traces nothing is taken along', async () => {
  const { spans, trace } = await exchange({ traceparent: traceparent('a') }, undefined, false)
  expect([spans, trace]).toEqual([[], undefined])
})

describe('a request of an operator', () => {
  /** One request; `operator` undefined: that API is off. */
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
    ['a question', 'GET', '/v1/regulations/d-1', {}, 200, false],
    ['a sync', 'POST', '/v1/audiences/Shoppers/syncs', { body: 'ada' }, 202, true],
    ['one that is refused', 'POST', '/v1/audiences/nobody/syncs', { body: 'ada' }, 404, false],
    ['one without the key', 'GET', '/v1/regulations/d-1', { headers: { authorization: 'Bearer x' } }, 401, false],
  ])('%s is a span; what follows from it is told which', async (_, method, path, init, status, leadsOn) => {
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

  it('while that API is off', async () => {
    const { spans } = await ask('/v1/regulations/d-1')
    expect(spans.map(({ facts }) => facts['http.response.status_code'])).toEqual([404])
  })

  it('a bug: the log has the trace', async () => {
    const operator = new ScriptedOperatorApi()
    operator.findDeletion = () => Promise.reject(new Error('a bug'))
    const { spans, logger } = await ask('/v1/regulations/d-1', {}, operator)
    expect(spans[0]?.facts['error.type']).toBe('internal_error')
    expect(logger.lines.map(({ fields }) => [fields['error'], fields['traceId']])).toEqual([['a bug', 'a'.repeat(32)]])
  })
})
