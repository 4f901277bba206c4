import { describe, expect, it } from '@jest/globals'
import { CollectorHarness } from '../../../support/collector/harness.ts'
import { RecordedSpans } from '../../../support/telemetry/recorded-spans.ts'
import { traceparent } from '../../../support/telemetry/traceparent.ts'

const batch = { batch: ['u1', 'u2'].map(userId => ({ type: 'track', userId, event: 'Opened' })) }
const trace = { traceparent: traceparent('a'), tracestate: 'vendor=1' }

describe('an append', () => {
  it('is a child span of its request, and all records carry its context', async () => {
    const spans = new RecordedSpans(0)
    const harness = new CollectorHarness({ tracer: spans.tracer })
    await harness.answered(batch, { trace })
    const [append, ...more] = spans.all
    expect(more).toEqual([])
    expect(append).toMatchObject({
      ...{ name: 'send hookline.events', kind: 'producer', traceId: 'a'.repeat(32), parent: 'a'.repeat(16) },
      hasFailed: false,
      facts: {
        'messaging.destination.name': 'hookline.events',
        'messaging.batch.message_count': 2,
        'hookline.source': 'web',
      },
    })
    const headers = { traceparent: `00-${append?.traceId}-${append?.spanId}-01`, tracestate: 'vendor=1' }
    expect(harness.producer.records(harness.topics.events).map(record => record.headers)).toEqual([headers, headers])
  })

  it.each([
    ['points to the trace of its request', '01', 1],
    ['does not point to an unsampled trace', '00', 0],
  ])('%s by an exemplar', async (_, flags, kept) => {
    const harness = new CollectorHarness({ tracer: new RecordedSpans(0).tracer })
    await harness.answered(batch, { trace: { traceparent: traceparent('a', flags) } })
    expect(harness.count('collectorStoreSeconds{}')).toBe(1)
    expect(harness.count(`collectorStoreSeconds{} # ${'a'.repeat(32)}`)).toBe(kept)
  })

  it('is a failed span when Kafka does not store the records', async () => {
    const spans = new RecordedSpans()
    const harness = new CollectorHarness({ tracer: spans.tracer })
    harness.request(batch, { trace })
    await harness.settle()
    harness.producer.answer(new Error('no leader'))
    await harness.settle()
    expect(spans.all).toEqual([expect.objectContaining({ hasFailed: true })])
    expect(spans.all[0]?.facts).toMatchObject({ 'error.type': 'failed' })
  })

  it('has no span without records', async () => {
    const spans = new RecordedSpans()
    const harness = new CollectorHarness({ tracer: spans.tracer })
    await harness.answered({ batch: [{ type: 'track' }] }, { trace })
    expect(spans.all).toEqual([])
  })

  it('passes the context on when it is not sampled: the sender decided that', async () => {
    const spans = new RecordedSpans()
    const harness = new CollectorHarness({ tracer: spans.tracer })
    const unsampled = { traceparent: traceparent('b', '00') }
    await harness.answered(batch, { trace: unsampled })
    expect(spans.all).toEqual([])
    expect(harness.producer.records(harness.topics.events)[0]?.headers).toEqual(unsampled)
  })
})

it('records have no headers without tracing', async () => {
  const harness = new CollectorHarness()
  await harness.answered(batch)
  expect(harness.producer.records(harness.topics.events).map(({ headers }) => headers)).toEqual([{}, {}])
})
