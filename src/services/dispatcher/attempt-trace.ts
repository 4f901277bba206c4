import type { Decision } from '../../core/delivery/decide.ts'
import { firstOrigin } from '../../core/delivery/replay-decision.ts'
import { type TraceContext, traceContextIn } from '../../core/trace/context.ts'
import { processFacts, type Span, type Tracer } from '../../core/trace/tracer.ts'
import type { Delivery } from './delivery.ts'

export interface AttemptTrace {
  /** The trace context of the attempt's requests. */
  readonly context: TraceContext
  end(decision: Decision): void
}

/**
 * Starts the span of an attempt. A retry or replay begins a new trace with a link to the first
 * trace, because no tracing system waits hours for spans.
 */
export function traceAttempt(tracer: Tracer, delivery: Delivery): AttemptTrace {
  const { of, carried, event } = delivery
  const { record } = of
  const written = traceContextIn(record.headers)
  const { origin } = carried
  const isFromRetryTopic =
    origin.offset !== record.offset || origin.partition !== record.partition || origin.topic !== record.topic
  const isLater = isFromRetryTopic || firstOrigin(record) !== record
  const first = traceContextIn({ traceparent: carried.firstTrace })
  const span = tracer.start({
    name: `deliver ${carried.destination}`,
    kind: 'consumer',
    facts: {
      ...processFacts(record),
      'messaging.message.id': carried.messageId,
      'hookline.source': event.sourceId,
      'hookline.destination': carried.destination,
      'hookline.attempt': carried.attempt + 1,
    },
    ...(isLater ? { follows: first ?? written } : { parent: written }),
  })
  const { context } = span
  // Note the trace even if it is not sampled: later attempts use the same sampling decision.
  if (first === undefined) delivery.carried = { ...carried, firstTrace: context.traceparent }
  return { context, end: decision => endAttempt(span, decision) }
}

function endAttempt(span: Span, decision: Decision): void {
  const why =
    decision.kind === 'deferred' ? decision.cause : decision.kind === 'delivered' ? undefined : reasonOf(decision)
  span.end({ 'hookline.decision': decision.kind, ...(why !== undefined && { 'hookline.reason': why }) }, why)
}

function reasonOf(decision: Exclude<Decision, { kind: 'delivered' | 'deferred' }>): string {
  return decision.kind === 'retried' ? decision.carried.reason : decision.reason
}
