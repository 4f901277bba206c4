import type { AudienceInput } from '../../core/audience/input.ts'
import type { LogRecord } from '../../core/ports.ts'
import { traceContextIn } from '../../core/trace/context.ts'
import { processFacts, type Span, sendFacts, type Tracer } from '../../core/trace/tracer.ts'

/** The trace of an audience input that changes at least one membership. */
export interface InputTrace {
  /** Starts the span of an identify message that the input causes for `destination`. */
  emit(destination: string): Span
  /**
   * Ends the span of the input. `changed`: all changes are written. `partition_lost`: the partition
   * was revoked before all were written.
   */
  end(result: 'changed' | 'partition_lost'): void
}

/**
 * Starts a new trace for an input, with a link to the trace of the request that wrote the input.
 * The input is not part of that trace, because a request may write millions of inputs over hours.
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
