import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { formatTraceparent, parseTraceparent, traceContextIn } from '../../../../src/core/trace/context.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, destination } from '../../../support/dispatcher/harness.ts'
import { RecordedSpans } from '../../../support/telemetry/recorded-spans.ts'

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
const parent = fc
  .record({ traceId: hex(32), spanId: hex(16), isSampled: fc.boolean() })
  .filter(({ traceId, spanId }) => !/^0+$/.test(traceId) && !/^0+$/.test(spanId))
const text = fc.oneof(
  parent.map(formatTraceparent),
  fc
    .tuple(parent.map(formatTraceparent), fc.nat(54), fc.string({ maxLength: 2 }))
    .map(([whole, at, other]) => whole.slice(0, at) + other + whole.slice(at + 1)),
  fc.string({ unit: 'binary', maxLength: 70 }),
)

describe('traceparent', () => {
  it('parses what it wrote', () => {
    fc.assert(fc.property(parent, given => expect(parseTraceparent(formatTraceparent(given))).toEqual(given)))
  })

  it('any value becomes a valid version 00 header, or none', () => {
    fc.assert(
      fc.property(text, text, (traceparent, tracestate) => {
        const context = traceContextIn({ traceparent, tracestate })
        if (context === undefined) return
        expect(context.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
        expect(context.tracestate ?? 'x').toMatch(/^[\x20-\x7e]{1,512}$/)
        expect(traceContextIn({ ...context })).toEqual(context)
      }),
      { numRuns: 1_000 },
    )
  })
})

const names = [
  ...['traceparent', 'tracestate', 'baggage', 'b3', 'x-b3-traceid', 'first-traceparent', 'uber-trace-id'],
] as const

it('for any headers of a record, its event is delivered and the endpoint gets only the headers that it requested', async () => {
  const headersOf = fc.dictionary(fc.constantFrom(...names), text)
  await fc.assert(
    fc.asyncProperty(headersOf, fc.boolean(), fc.boolean(), async (headers, traced, traceHeaders) => {
      const { webhooks, ...crm } = destination('crm')
      const { tracer } = new RecordedSpans()
      const harness = await DispatcherHarness.started({
        ...(traced && { tracer }),
        destinations: [{ ...crm, webhooks: webhooks.map(webhook => ({ ...webhook, traceHeaders })) }],
        // The first request fails, so that the event goes through a retry topic.
        answer: () => ({ kind: 'answered', status: harness.calls.length < 2 ? 503 : 200, retryAfter: undefined }),
      })
      harness.write({ message: trackMessage('m1') }, headers)
      await harness.advance(60_000)
      expect(harness.count('deliveries{crm,delivered}')).toBe(1)
      expect(harness.calls).toHaveLength(2)
      for (const { call } of harness.calls) {
        const told = Object.keys(call.headers).filter(name => /trace|baggage|b3/i.test(name))
        const asked = traced && traceHeaders ? ['traceparent'] : []
        expect(told.filter(name => name !== 'tracestate')).toEqual(asked)
        if (told.includes('tracestate')) expect(asked).not.toEqual([])
      }
    }),
    { numRuns: 40 },
  )
})
