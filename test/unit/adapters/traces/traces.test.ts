import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { mostWaiting } from '../../../../src/adapters/traces/batches.ts'
import { createTraces } from '../../../../src/adapters/traces/traces.ts'
import type { SpanStart } from '../../../../src/core/trace/tracer.ts'
import { Conditions } from '../../../support/conditions.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { countingMetrics } from '../../../support/telemetry/counting-metrics.ts'
import { RecordedSpans } from '../../../support/telemetry/recorded-spans.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'
import { traceparent } from '../../../support/telemetry/traceparent.ts'

const work: SpanStart = { name: 'work', kind: 'consumer', facts: { 'messaging.system': 'kafka', count: 3 } }
const theirs = { traceparent: traceparent('a'), tracestate: 'v=1' }
const unkept = { traceparent: traceparent('b', '00'), tracestate: 'v=2' }

describe('a span', () => {
  it('has its name, kind and facts, those of its end too, and says of whom it is', () => {
    const spans = new RecordedSpans()
    spans.tracer.start(work).end({ done: true })
    const [span] = spans.all
    expect(span).toMatchObject({ name: 'work', kind: 'consumer', parent: undefined, links: [], hasFailed: false })
    expect(span?.facts).toEqual({ 'messaging.system': 'kafka', count: 3, done: true })
    expect(spans.raw[0]?.resource.attributes).toMatchObject({ 'service.name': 'hookline', 'service.version': '1.2.3' })
  })

  it('that failed says why', () => {
    const spans = new RecordedSpans()
    spans.tracer.start(work).end({}, 'timeout')
    expect(spans.all[0]).toMatchObject({ hasFailed: true, facts: { 'error.type': 'timeout' } })
  })

  it.each(['server', 'producer', 'consumer', 'client'] as const)('is a %s', kind => {
    const spans = new RecordedSpans()
    spans.tracer.start({ ...work, kind }).end({})
    expect(spans.all.map(span => span.kind)).toEqual([kind])
  })

  it('is told on under its own id, with what vendors say of the trace', () => {
    const spans = new RecordedSpans(0)
    const span = spans.tracer.start({ ...work, parent: theirs })
    span.end({})
    const { traceId, spanId } = spans.all[0]!
    expect(span.context).toEqual({ traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'v=1' })
  })
})

describe('whoever begins a trace decides about it', () => {
  it.each<[string, number, Partial<SpanStart>, Record<string, unknown> | undefined]>([
    ['ours, all kept', 1, {}, { parent: undefined, links: [] }],
    ['ours, none kept', 0, {}, undefined],
    [
      'a part of one that is kept',
      0,
      { parent: theirs },
      { traceId: 'a'.repeat(32), parent: 'a'.repeat(16), links: [] },
    ],
    ['a part of one that is not', 1, { parent: unkept }, undefined],
    [
      'after one that is kept: a trace of its own',
      0,
      { follows: theirs },
      { parent: undefined, links: ['a'.repeat(16)] },
    ],
    ['after one that is not', 1, { follows: unkept }, undefined],
    ['a broken one: ours', 1, { parent: { traceparent: 'what?' } }, { parent: undefined, links: [] }],
    ['after a broken one: ours', 1, { follows: { traceparent: 'what?' } }, { parent: undefined, links: [] }],
  ])('%s', (_, sample, more, expected) => {
    const spans = new RecordedSpans(sample)
    spans.tracer.start({ ...work, ...more }).end({}, 'timeout')
    expect(spans.all).toEqual(expected === undefined ? [] : [expect.objectContaining(expected)])
  })

  it('what is not kept goes on as it came', () => {
    const { tracer } = new RecordedSpans()
    expect(tracer.start({ ...work, parent: unkept }).context).toEqual(unkept)
    expect(tracer.start({ ...work, follows: unkept }).context).toEqual(unkept)
  })

  it('and what begins here and is not kept says so to those who come after', () => {
    const spans = new RecordedSpans(0)
    const { context } = spans.tracer.start(work)
    expect(context.traceparent).toMatch(/-00$/)
    spans.tracer.start({ ...work, parent: context }).end({})
    expect(spans.all).toEqual([])
  })

  it('about the share that is asked for', () => {
    const spans = new RecordedSpans(0.5)
    for (let begun = 0; begun < 1_000; begun++) spans.tracer.start(work).end({})
    // Twelve standard deviations around.
    expect(Math.abs(spans.all.length - 500)).toBeLessThan(200)
  })
})

describe('sent by OTLP', () => {
  const clock = new ManualClock()
  const open: { close(): unknown }[] = []
  afterEach(() => {
    for (const each of open.splice(0)) each.close()
  })

  /** Takes what is sent, and answers so. */
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
        // Final, so that it is not sent again after the test.
        status = 400
        for (const response of held) response.writeHead(400).end()
        server.close()
      },
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, arrived }
  }

  /** Those of a process, and what it tells of them. */
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

  it.each(['', '/'])('what is left is sent at the stop, below the endpoint%s', async slash => {
    const { url, bodies } = await receiver(200)
    const traces = tracesTo(url + slash)
    traces.tracer.start(work).end({})
    await traces.stop()
    expect(bodies.map(({ path }) => path)).toEqual(['/v1/traces'])
    expect(bodies[0]?.body).toContain('"name":"work"')
    expect(traces.logger.lines).toEqual([])
    expect(traces.lost()).toEqual({ full: 0, unsent: 0 })
  })

  it('what is refused is lost: counted, and told', async () => {
    const { url } = await receiver(400)
    const traces = tracesTo(url)
    traces.tracer.start(work).end({})
    traces.tracer.start(work).end({})
    await traces.stop()
    expect(traces.lost()).toEqual({ full: 0, unsent: 2 })
    expect(traces.logger.lines).toEqual([
      expect.objectContaining({
        ...{ level: 'warn', line: 'spans are lost' },
        fields: expect.objectContaining({ spans: 2, reason: 'not_sent', error: expect.any(String) }),
      }),
    ])
  })

  it('what there is no room for is lost: counted, and told once a minute with all that was lost since', async () => {
    const { url, arrived } = await receiver(0)
    const traces = tracesTo(url)
    const end = (count: number): void => {
      for (let ended = 0; ended < count; ended++) traces.tracer.start(work).end({})
    }
    // One batch is under way, and the receiver says nothing.
    end(512 + mostWaiting)
    expect(traces.lost()).toEqual({ full: 0, unsent: 0 })
    end(3)
    expect(traces.lost()).toEqual({ full: 3, unsent: 0 })
    await clock.advance(60_000, async () => undefined)
    end(1)
    const told = traces.logger.lines.map(({ line, fields }) => [line, fields['spans'], fields['reason']])
    expect(told).toEqual([
      ['spans are lost', 1, 'queue_full'],
      ['spans are lost', 3, 'queue_full'],
    ])
    const stopped = traces.stop()
    await arrived(1 + mostWaiting / 512)
    await clock.advance(2_000, async () => undefined)
    await stopped
  })

  it('a receiver that never answers holds up a stop for two seconds', async () => {
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
