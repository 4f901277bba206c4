import { afterEach, expect, it } from '@jest/globals'
import { refusal, type TrackingAnswer } from '../../../../src/core/tracking-api.ts'
import { startCollector } from '../../../support/collector-cases.ts'
import { RecordedSpans } from '../../../support/recorded-spans.ts'
import { RecordingLogger } from '../../../support/recording-logger.ts'
import { ScriptedTrackingApi } from '../../../support/scripted-tracking-api.ts'
import { traceparent } from '../../../support/traceparent.ts'

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
