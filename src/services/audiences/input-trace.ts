import type { AudienceInput } from '../../core/audience/input.ts'
import type { LogRecord } from '../../core/ports.ts'
import { traceContextIn } from '../../core/trace/context.ts'
import { processFacts, type Span, sendFacts, type Tracer } from '../../core/trace/tracer.ts'

/** The trace of one input that something is written for. */
export interface InputTrace {
  /** An identify that is written for it. */
  emit(destination: string): Span
  /** All of it is written, or another process goes on with it. */
  end(result: 'changed' | 'partition_lost'): void
}

/**
 * An input begins a trace of its own, linked to the request that wrote it: a list has millions of them, and they take as long as the
 * pace of identify messages lets them. So does each identify of what concerns a whole audience; those of one user are a part of their input.
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
  const place = 'userId' in input ? { parent: span.context } : { follows: span.context }
  return {
    emit: destination =>
      tracer.start({
        name: `send ${eventsTopic}`,
        kind: 'producer',
        facts: {
          ...sendFacts(eventsTopic),
          'hookline.destination': destination,
        },
        ...place,
      }),
    end: result => span.end({}, result === 'changed' ? undefined : result),
  }
}
