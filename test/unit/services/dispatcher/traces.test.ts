import { describe, expect, it } from '@jest/globals'
import type { Destination } from '../../../../src/core/settings/settings.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { webhookOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination } from '../../../support/dispatcher/harness.ts'
import { RecordedSpans } from '../../../support/telemetry/recorded-spans.ts'
import { traceparent } from '../../../support/telemetry/traceparent.ts'

const theirs = traceparent('a')
const minute = 60_000
/** Trace headers that the instrumentation of a sender can add to a record. */
const everything = {
  traceparent: theirs,
  tracestate: 'vendor=1',
  baggage: 'user=somebody',
  b3: `${'a'.repeat(32)}-${'a'.repeat(16)}-1`,
  'x-b3-traceid': 'a'.repeat(32),
  'x-b3-spanid': 'a'.repeat(16),
  'x-b3-sampled': '1',
  'uber-trace-id': 'a:b:0:1',
  'X-Amzn-Trace-Id': 'Root=1',
}
const promised = ['User-Agent', 'Content-Type', 'Accept', 'Accept-Encoding', 'X-Message-Id'].sort()

const crm = (...traceHeaders: boolean[]): Destination =>
  destination('crm', { webhooks: traceHeaders.map((asked, index) => ({ ...webhookOf(index), traceHeaders: asked })) })

const started = (
  spans: RecordedSpans | undefined,
  statuses: readonly number[] = [200],
  destinations = [crm(false)],
) => {
  let made = 0
  const answer = () => answered(statuses[Math.min(made++, statuses.length - 1)]!)
  return DispatcherHarness.started({ ...(spans && { tracer: spans.tracer }), destinations, answer })
}

describe('an attempt', () => {
  it("of the event's own record is in the trace of the event, with its requests as child spans", async () => {
    const spans = new RecordedSpans(0)
    const harness = await started(spans, [200], [crm(false, false)])
    harness.write({ message: trackMessage('m1') }, everything)
    await harness.advance(minute)

    const [attempt] = spans.of('consumer')
    expect(attempt).toMatchObject({
      ...{ name: 'deliver crm', traceId: 'a'.repeat(32), parent: 'a'.repeat(16), links: [], hasFailed: false },
      facts: {
        ...{ 'messaging.system': 'kafka', 'messaging.operation.type': 'process', 'messaging.message.id': 'm1' },
        ...{ 'messaging.destination.name': 'hookline.events', 'messaging.kafka.offset': 0 },
        ...{ 'hookline.source': 'web', 'hookline.destination': 'crm', 'hookline.attempt': 1 },
        'hookline.decision': 'delivered',
      },
    })
    expect(spans.of('client')).toEqual(
      ['0', '1'].map(label =>
        expect.objectContaining({
          ...{ name: 'POST', traceId: attempt?.traceId, parent: attempt?.spanId, hasFailed: false },
          facts: { 'http.request.method': 'POST', 'hookline.webhook': label, 'http.response.status_code': 200 },
        }),
      ),
    )
  })

  it('that is a retry has a trace of its own, linked to the first one; all log the same trace id', async () => {
    const spans = new RecordedSpans(0)
    const harness = await started(spans, [503, 500, 200])
    harness.write({ message: trackMessage('m1') }, { traceparent: theirs })
    await harness.advance(5 * minute)

    const [first, second, third] = spans.of('consumer')
    expect(first).toMatchObject({ parent: 'a'.repeat(16), links: [], hasFailed: true })
    expect(first?.facts).toMatchObject({
      'hookline.decision': 'retried',
      'hookline.reason': 'http_5xx',
      'error.type': 'http_5xx',
    })
    for (const [index, follower] of [second, third].entries()) {
      expect(follower).toMatchObject({ parent: undefined, links: [first?.spanId] })
      expect(follower?.facts).toMatchObject({ 'hookline.attempt': index + 2 })
    }
    expect(new Set([first, second, third].map(span => span?.traceId)).size).toBe(3)
    const lines = harness.lines.filter(({ line }) => line === 'delivery attempted')
    expect(lines.map(({ fields }) => fields['traceId'])).toEqual(Array(3).fill('a'.repeat(32)))
  })

  it.each([
    ['it is sampled, and so are its retries', 1, 2],
    ['it is not sampled, nor are its retries', 0, 0],
  ])('of an event without a trace begins one: %s', async (_, sample, kept) => {
    const spans = new RecordedSpans(sample)
    const harness = await started(spans, [503, 200])
    harness.write({ message: trackMessage('m1') })
    await harness.advance(5 * minute)
    const attempts = spans.of('consumer')
    expect(attempts).toHaveLength(kept)
    if (kept > 0) expect(attempts[1]?.links).toEqual([attempts[0]?.spanId])
    expect(harness.log.records(harness.topics.retry(durationMs(10_000)))[0]?.headers['first-traceparent']).toMatch(
      sample === 1 ? /-01$/ : /-00$/,
    )
  })

  it('of a replayed event has a trace of its own, linked to the trace of the event', async () => {
    const spans = new RecordedSpans(0)
    const harness = await started(spans)
    const headers = { traceparent: theirs, 'replay-of': 'hookline.events/3/41/1795248000000' }
    harness.write({ message: trackMessage('m1') }, headers)
    await harness.advance(minute)
    expect(spans.of('consumer')).toEqual([expect.objectContaining({ parent: undefined, links: ['a'.repeat(16)] })])
  })

  it('has no users, URLs or message contents in its span', async () => {
    const spans = new RecordedSpans()
    const harness = await started(spans, [503, 200])
    harness.write({ message: trackMessage('m1', { userId: 'somebody' }) })
    await harness.advance(minute)
    expect(spans.all).toHaveLength(4)
    expect(JSON.stringify(spans.all)).not.toMatch(/somebody|example\.com|Order/)
  })
})

describe('exemplars', () => {
  const inTraces = (harness: DispatcherHarness): Record<string, number> =>
    Object.fromEntries([...harness.counts].filter(([key]) => key.includes('#')))
  const firstDelay = (traceId: string): string => `firstAttemptDelay{} # ${traceId}`
  const call = (traceId: string): string => `webhookCallSeconds{} # ${traceId}`

  it("of the first attempt's delay and of requests point to the trace of the event", async () => {
    const harness = await started(new RecordedSpans(0), [200], [crm(false, false)])
    harness.write({ message: trackMessage('m1') }, { traceparent: theirs })
    await harness.advance(minute)
    expect(inTraces(harness)).toEqual({ [firstDelay('a'.repeat(32))]: 1, [call('a'.repeat(32))]: 2 })
  })

  it("of a retry's request point to the trace of the retry", async () => {
    const spans = new RecordedSpans()
    const harness = await started(spans, [503, 200])
    harness.write({ message: trackMessage('m1') })
    await harness.advance(minute)
    const [first = '', second = ''] = spans.of('consumer').map(({ traceId }) => traceId)
    expect(inTraces(harness)).toEqual({ [firstDelay(first)]: 1, [call(first)]: 1, [call(second)]: 1 })
  })

  it.each<[string, RecordedSpans | undefined, string | undefined]>([
    ['for a trace that the sender does not sample', new RecordedSpans(1), traceparent('c', '00')],
    ['for a trace that Hookline does not sample', new RecordedSpans(0), undefined],
    ['without tracing, for any headers of the event', undefined, theirs],
  ])('are absent %s', async (_, spans, named) => {
    const harness = await started(spans)
    harness.write({ message: trackMessage('m1') }, named === undefined ? {} : { traceparent: named })
    await harness.advance(minute)
    expect(harness.counts.get('webhookCallSeconds{}')).toBe(1)
    expect(harness.counts.get('firstAttemptDelay{}')).toBe(1)
    expect(inTraces(harness)).toEqual({})
  })
})

describe('trace headers of a request', () => {
  it('are traceparent and tracestate of the request when the webhook asks for them, also on retries', async () => {
    const spans = new RecordedSpans()
    const harness = await started(spans, [503], [crm(true, false)])
    harness.write({ message: trackMessage('m1') }, everything)
    await harness.advance(15_000)
    const [asked, other, again] = harness.calls.map(({ call }) => call.headers)
    expect(Object.keys(asked!).sort()).toEqual([...promised, 'traceparent', 'tracestate'].sort())
    expect(Object.keys(other!).sort()).toEqual(promised)
    // The retry (`again`) has a new trace, so it does not have the `tracestate` of the sender.
    expect(Object.keys(again!).sort()).toEqual([...promised, 'traceparent'].sort())
    const calls = spans.of('client').filter(({ facts }) => facts['hookline.webhook'] === '0')
    expect([asked, again].map(headers => headers?.['traceparent'])).toEqual(
      calls.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
    )
    expect(asked?.['tracestate']).toBe('vendor=1')
  })

  it('say when a trace is not sampled', async () => {
    const harness = await started(new RecordedSpans(), [200], [crm(true)])
    harness.write({ message: trackMessage('m1') }, { traceparent: traceparent('c', '00') })
    await harness.advance(minute)
    expect(harness.calls[0]?.call.headers['traceparent']).toBe(traceparent('c', '00'))
  })
})

describe('records', () => {
  it('on retry and dead-letter topics keep foreign headers, and name the first attempt', async () => {
    const spans = new RecordedSpans()
    const harness = await started(spans, [410])
    harness.write({ message: trackMessage('m1') }, everything)
    await harness.advance(5 * 60 * minute)
    const [deadLetter] = harness.log.records(harness.topics.deadLetter)
    expect(deadLetter?.headers).toMatchObject(everything)
    const [first] = spans.of('consumer')
    expect(deadLetter?.headers['first-traceparent']).toBe(`00-${first?.traceId}-${first?.spanId}-01`)
  })

  it('have no additional header without tracing; the log shows the trace of the event', async () => {
    const harness = await started(undefined, [503, 200])
    harness.write({ message: trackMessage('m1') }, { traceparent: theirs })
    await harness.advance(minute)
    const [retry] = harness.log.records(harness.topics.retry(durationMs(10_000)))
    expect(Object.keys(retry!.headers)).not.toContain('first-traceparent')
    const ids = harness.lines.filter(({ line }) => line === 'delivery attempted').map(({ fields }) => fields['traceId'])
    expect(ids).toEqual(['a'.repeat(32), 'a'.repeat(32)])
  })
})
