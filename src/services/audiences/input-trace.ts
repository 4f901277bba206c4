import type { AudienceInput } from '../../core/audience/input.ts'
import type { LogRecord } from '../../core/ports.ts'
import { traceContextIn } from '../../core/trace/context.ts'
import { processFacts, type Span, sendFacts, type Tracer } from '../../core/trace/tracer.ts'

/** The trace of an input that changes something. */
export interface InputTrace {
  /** Starts the span of an identify that is written because of the input. */
  emit(destination: string): Span
  /** Ends the span: all changes are written, or the partition was revoked. */
  end(result: 'changed' | 'partition_lost'): void
}

/**
 * Starts the trace of an input, linked to the request that wrote the input. It is a trace of its
 * own, because a list may have millions of inputs, and the rate limit of identify messages spreads
 * them over a long time. When the input is about a whole audience, each identify gets a trace of
 * its own too. When the input is about one user, the identify messages are part of the input's
 * trace.
 */
export function traceInput(
  tracer: Tracer,
  { record, input, eventsTopic }: { record: LogRecord; input: AudienceInput; eventsTopic: string },
): InputTrace {
  const span = tracer.start({
    name: `process ${record.topic}`,
    kind: 'consumer',
    facts: {
      ...processFacts(record),
      'hookline.input': input.kind,
      ...('audience' in input && { 'hookline.audience': input.audience }),
    },
    follows: traceContextIn(record.headers),
  })
  const relation = 'userId' in input ? { parent: span.context } : { follows: span.context }
  return {
    emit: destination =>
      tracer.start({
        name: `send ${eventsTopic}`,
        kind: 'producer',
        facts: {
          ...sendFacts(eventsTopic),
          'hookline.destination': destination,
        },
        ...relation,
      }),
    end: result => span.end({}, result === 'changed' ? undefined : result),
  }
}
