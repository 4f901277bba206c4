import type { Decision } from '../../core/delivery/decide.ts'
import { firstStood } from '../../core/delivery/replay-target.ts'
import { traceContextIn } from '../../core/trace/context.ts'
import { processFacts, type Span, type TraceContext, type Tracer } from '../../core/trace/tracer.ts'
import type { Delivery } from './delivery.ts'

/** The trace of one attempt. */
export interface AttemptTrace {
  /** What the calls are part of. */
  readonly context: TraceContext
  end(decision: Decision): void
}

/**
 * What is delivered right from its own record is part of the trace that wrote it. Whatever waited on a retry topic, or was put back, begins
 * a trace of its own, linked to the first attempt: else a trace would last for hours, and no tracing system waits for its end.
 */
export function traceAttempt(tracer: Tracer, delivery: Delivery): AttemptTrace {
  const { of, carried, event } = delivery
  const { record } = of
  const written = traceContextIn(record.headers)
  const { origin } = carried
  const isFromRetryTopic =
    origin.offset !== record.offset || origin.partition !== record.partition || origin.topic !== record.topic
  const isLater = isFromRetryTopic || firstStood(record) !== record
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
  // For those that follow, whether it is kept or not: they are not to be decided anew.
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
