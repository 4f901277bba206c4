import { describe, expect, it } from '@jest/globals'
import type { AudienceInput } from '../../../../src/core/audience/input.ts'
import type { RecordHeaders } from '../../../../src/core/ports.ts'
import { AudiencesHarness } from '../../../support/audience/harness.ts'
import { audience, ended, observed } from '../../../support/audience/partition-harness.ts'
import { type RecordedSpan, RecordedSpans } from '../../../support/telemetry/recorded-spans.ts'
import { traceparent } from '../../../support/telemetry/traceparent.ts'

const requestTrace = { traceparent: traceparent('a'), tracestate: 'vendor=1' }

/** Runs an audiences service with tracing on these inputs. */
async function traced(inputs: readonly AudienceInput[], requestHeaders: RecordHeaders = {}, sample = 1) {
  const spans = new RecordedSpans(sample)
  const harness = await AudiencesHarness.started({ tracer: spans.tracer })
  harness.destinations = ['crm', 'erp']
  harness.headers = requestHeaders
  harness.write(...inputs)
  await harness.advance(0)
  const headers = harness.log.records(harness.topics.events).map(record => record.headers)
  return { harness, spans, headers, inputs: spans.of('consumer'), identifies: spans.of('producer') }
}

const named = ({ traceId, spanId }: RecordedSpan) =>
  expect.objectContaining({ traceparent: `00-${traceId}-${spanId}-01` })

describe('an observation', () => {
  it('begins a trace linked to its request; its identify messages are in that trace, and carry its context', async () => {
    const { inputs, identifies, headers } = await traced([observed('ada', 1)], requestTrace, 0)
    const [input] = inputs as [RecordedSpan]
    expect(inputs).toHaveLength(1)
    expect(input).toMatchObject({
      ...{ name: 'process hookline.audience-input', parent: undefined, links: ['a'.repeat(16)], hasFailed: false },
      facts: {
        'messaging.destination.name': 'hookline.audience-input',
        'messaging.destination.partition.id': '0',
        'messaging.kafka.offset': 0,
        'hookline.input': 'observed',
        'hookline.audience': audience,
      },
    })
    expect(input.traceId).not.toBe('a'.repeat(32))
    expect(
      identifies.map(({ name, parent, traceId, facts }) => [name, parent, traceId, facts['hookline.destination']]),
    ).toEqual(['crm', 'erp'].map(id => ['send hookline.events', input.spanId, input.traceId, id]))
    expect(headers).toEqual(identifies.map(named))
  })

  it('has no span when it changes nothing', async () => {
    const { harness, spans } = await traced([observed('ada', 1)])
    const before = spans.all.length
    harness.write(observed('ada', 1))
    await harness.advance(0)
    expect(spans.all.slice(before)).toEqual([])
  })

  it('has no span when its request is not sampled, and passes that decision on', async () => {
    const { spans, headers } = await traced([observed('ada', 1)], { traceparent: traceparent('b', '00') })
    expect(spans.all).toEqual([])
    expect(headers).toEqual([{ traceparent: traceparent('b', '00') }, { traceparent: traceparent('b', '00') }])
  })

  it('has no data of the user in its span', async () => {
    const { spans } = await traced([observed('somebody', 1)])
    expect(JSON.stringify(spans.all)).not.toContain('somebody')
  })
})

it('identify messages of the end of a sync have traces of their own, linked to it', async () => {
  const { harness, spans } = await traced([observed('ada', 1), observed('bob', 1)])
  const before = spans.all.length
  harness.headers = requestTrace
  harness.write(ended(2))
  await harness.advance(0)
  const later = spans.all.slice(before)
  const [end] = later.filter(span => span.facts['hookline.input'] === 'sync_ended') as [RecordedSpan]
  expect(end).toMatchObject({ parent: undefined, links: ['a'.repeat(16)] })
  const identifies = later.filter(({ kind }) => kind === 'producer')
  expect(identifies).toHaveLength(4)
  for (const identify of identifies) expect(identify).toMatchObject({ parent: undefined, links: [end.spanId] })
  expect(new Set([...identifies, end].map(({ traceId }) => traceId)).size).toBe(5)
})

it('delivery reports have no spans', async () => {
  const { harness, inputs } = await traced([observed('ada', 1)])
  await harness.advance(1_000)
  expect(harness.count('audienceInputs{outcome,changed}')).toBe(2)
  expect(inputs.map(({ facts }) => facts['hookline.input'])).toEqual(['observed'])
})

it('a span ends with partition_lost when another process continues', async () => {
  const spans = new RecordedSpans()
  const harness = await AudiencesHarness.started({ tracer: spans.tracer })
  harness.log.unwritable.add(harness.topics.events)
  harness.write(observed('ada', 1))
  await harness.advance(1)
  harness.consumer.handlers?.onRevoked([{ topic: harness.topics.audienceInput, partition: 0 }])
  harness.log.unwritable.clear()
  await harness.advance(60_000)
  expect(spans.all.map(({ kind, facts }) => [kind, facts['error.type']])).toEqual([
    ['producer', 'partition_lost'],
    ['consumer', 'partition_lost'],
  ])
})

it('an identify has no headers without tracing', async () => {
  const harness = await AudiencesHarness.started()
  harness.headers = requestTrace
  harness.write(observed('ada', 1))
  await harness.advance(0)
  expect(harness.log.records(harness.topics.events).map(({ headers }) => headers)).toEqual([{}])
})
