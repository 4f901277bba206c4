import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { maxQueuedSpans } from '../../../../src/adapters/traces/span-processor.ts'
import { createTraces } from '../../../../src/adapters/traces/traces.ts'
import type { SpanStart } from '../../../../src/core/trace/tracer.ts'
import { Conditions } from '../../../support/awaited-conditions.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { countingMetrics } from '../../../support/telemetry/counting-metrics.ts'
import { RecordedSpans } from '../../../support/telemetry/recorded-spans.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'
import { traceparent } from '../../../support/telemetry/traceparent.ts'

const spansLost =
  'this process could not export trace spans and discarded them (see "spans" and "error"): check the tracing backend, and its address in traces.endpoint or in the OTEL_EXPORTER_OTLP_* variables; messages are not affected'
const work: SpanStart = { name: 'work', kind: 'consumer', facts: { 'messaging.system': 'kafka', count: 3 } }
const theirs = { traceparent: traceparent('a'), tracestate: 'v=1' }
const unsampled = { traceparent: traceparent('b', '00'), tracestate: 'v=2' }

describe('a span', () => {
  it('has its name, kind, attributes (also those set at its end) and resource', () => {
    const spans = new RecordedSpans()
    spans.tracer.start(work).end({ done: true })
    const [span] = spans.all
    expect(span).toMatchObject({ name: 'work', kind: 'consumer', parent: undefined, links: [], hasFailed: false })
    expect(span?.facts).toEqual({ 'messaging.system': 'kafka', count: 3, done: true })
    expect(spans.raw[0]?.resource.attributes).toMatchObject({ 'service.name': 'hookline', 'service.version': '1.2.3' })
  })

  it('has the error type when it failed', () => {
    const spans = new RecordedSpans()
    spans.tracer.start(work).end({}, 'timeout')
    expect(spans.all[0]).toMatchObject({ hasFailed: true, facts: { 'error.type': 'timeout' } })
  })

  it.each(['server', 'producer', 'consumer', 'client'] as const)('has the kind %s', kind => {
    const spans = new RecordedSpans()
    spans.tracer.start({ ...work, kind }).end({})
    expect(spans.all.map(span => span.kind)).toEqual([kind])
  })

  it('propagates its own id and the tracestate', () => {
    const spans = new RecordedSpans(0)
    const span = spans.tracer.start({ ...work, parent: theirs })
    span.end({})
    const { traceId, spanId } = spans.all[0]!
    expect(span.context).toEqual({ traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'v=1' })
  })
})

describe('the first span of a trace decides about sampling', () => {
  it.each<[string, number, Partial<SpanStart>, Record<string, unknown> | undefined]>([
    ['a new trace, all sampled', 1, {}, { parent: undefined, links: [] }],
    ['a new trace, none sampled', 0, {}, undefined],
    [
      'a child of a sampled span',
      0,
      { parent: theirs },
      { traceId: 'a'.repeat(32), parent: 'a'.repeat(16), links: [] },
    ],
    ['a child of a span that is not sampled', 1, { parent: unsampled }, undefined],
    [
      'linked to a sampled span: a trace of its own',
      0,
      { follows: theirs },
      { parent: undefined, links: ['a'.repeat(16)] },
    ],
    ['linked to a span that is not sampled', 1, { follows: unsampled }, undefined],
    ['an invalid parent: a new trace', 1, { parent: { traceparent: 'what?' } }, { parent: undefined, links: [] }],
    ['an invalid link: a new trace', 1, { follows: { traceparent: 'what?' } }, { parent: undefined, links: [] }],
  ])('%s', (_, sample, more, expected) => {
    const spans = new RecordedSpans(sample)
    spans.tracer.start({ ...work, ...more }).end({}, 'timeout')
    expect(spans.all).toEqual(expected === undefined ? [] : [expect.objectContaining(expected)])
  })

  it('passes on the context of a span that is not sampled', () => {
    const { tracer } = new RecordedSpans()
    expect(tracer.start({ ...work, parent: unsampled }).context).toEqual(unsampled)
    expect(tracer.start({ ...work, follows: unsampled }).context).toEqual(unsampled)
  })

  it('marks a new trace that is not sampled for later spans', () => {
    const spans = new RecordedSpans(0)
    const { context } = spans.tracer.start(work)
    expect(context.traceparent).toMatch(/-00$/)
    spans.tracer.start({ ...work, parent: context }).end({})
    expect(spans.all).toEqual([])
  })

  it('samples about the configured share', () => {
    const spans = new RecordedSpans(0.5)
    for (let begun = 0; begun < 1_000; begun++) spans.tracer.start(work).end({})
    // The tolerance is about twelve standard deviations.
    expect(Math.abs(spans.all.length - 500)).toBeLessThan(200)
  })
})

describe('sent by OTLP', () => {
  const clock = new ManualClock()
  const open: { close(): unknown }[] = []
  afterEach(() => {
    for (const each of open.splice(0)) each.close()
  })

  /** Responds with this status, or not at all if it is 0. */
  async function receiver(given: number) {
    const bodies: { path: string | undefined; body: string }[] = []
    const held: ServerResponse[] = []
    const changes = new Conditions()
    let status = given
    const server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', piece => pieces.push(piece))
      request.on('end', () => {
        bodies.push({ path: request.url, body: Buffer.concat(pieces).toString() })
        if (status > 0) response.writeHead(status).end('{}')
        else held.push(response)
        changes.changed()
      })
    })
    const arrived = (count: number): Promise<void> => changes.until(() => bodies.length === count)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    open.push({
      close() {
        // A status of 400 is final, so the exporter does not send the spans again after the test.
        status = 400
        for (const response of held) response.writeHead(400).end()
        server.close()
      },
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, arrived }
  }

  function tracesTo(endpoint: string) {
    const counts = new Map<string, number>()
    const logger = new RecordingLogger()
    const traces = createTraces(
      { endpoint, sample: 1 },
      { version: '1', clock, logger, metrics: countingMetrics(counts) },
    )
    const lost = () => ({ full: counts.get('spansLost{queue_full}'), unsent: counts.get('spansLost{not_sent}') })
    return { ...traces, logger, lost }
  }

  it.each(['', '/'])('sends the remaining spans at the stop, below the endpoint%s', async slash => {
    const { url, bodies } = await receiver(200)
    const traces = tracesTo(url + slash)
    traces.tracer.start(work).end({})
    await traces.stop()
    expect(bodies.map(({ path }) => path)).toEqual(['/v1/traces'])
    expect(bodies[0]?.body).toContain('"name":"work"')
    expect(traces.logger.lines).toEqual([])
    expect(traces.lost()).toEqual({ full: 0, unsent: 0 })
  })

  it('counts and logs spans that the receiver refuses', async () => {
    const { url } = await receiver(400)
    const traces = tracesTo(url)
    traces.tracer.start(work).end({})
    traces.tracer.start(work).end({})
    await traces.stop()
    expect(traces.lost()).toEqual({ full: 0, unsent: 2 })
    expect(traces.logger.lines).toEqual([
      expect.objectContaining({
        ...{ level: 'warn', line: spansLost },
        fields: expect.objectContaining({ spans: 2, reason: 'not_sent', error: expect.any(String) }),
      }),
    ])
  })

  it('counts spans that do not fit into the queue, and logs their number once a minute', async () => {
    const { url, arrived } = await receiver(0)
    const traces = tracesTo(url)
    const end = (count: number): void => {
      for (let ended = 0; ended < count; ended++) traces.tracer.start(work).end({})
    }
    // One batch of 512 spans is in progress, because the receiver does not respond.
    end(512 + maxQueuedSpans)
    expect(traces.lost()).toEqual({ full: 0, unsent: 0 })
    end(3)
    expect(traces.lost()).toEqual({ full: 3, unsent: 0 })
    await clock.advance(60_000, async () => undefined)
    end(1)
    const told = traces.logger.lines.map(({ line, fields }) => [line, fields['spans'], fields['reason']])
    expect(told).toEqual([
      [spansLost, 1, 'queue_full'],
      [spansLost, 3, 'queue_full'],
    ])
    const stopped = traces.stop()
    await arrived(1 + maxQueuedSpans / 512)
    await clock.advance(2_000, async () => undefined)
    await stopped
  })

  it('waits at most two seconds at the stop for a receiver that does not respond', async () => {
    const { url, arrived } = await receiver(0)
    const traces = tracesTo(url)
    traces.tracer.start(work).end({})
    let isStopped = false
    const stopped = traces.stop().then(() => {
      isStopped = true
    })
    await arrived(1)
    await clock.advance(1_999, async () => undefined)
    expect(isStopped).toBe(false)
    await clock.advance(1, async () => undefined)
    await stopped
    expect(isStopped).toBe(true)
  })
})
