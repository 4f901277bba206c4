import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { createTracer } from '../../../src/adapters/traces/traces.ts'
import type { Tracer } from '../../../src/core/trace/tracer.ts'

export interface RecordedSpan {
  readonly name: string
  readonly kind: string
  readonly traceId: string
  readonly spanId: string
  readonly parent: string | undefined
  readonly links: readonly string[]
  readonly facts: Readonly<Record<string, unknown>>
  readonly hasFailed: boolean
}

/** The real tracer with its recorded spans, in the order in which they ended. */
export class RecordedSpans {
  readonly tracer: Tracer
  readonly #exporter = new InMemorySpanExporter()

  constructor(sample = 1) {
    this.tracer = createTracer(new SimpleSpanProcessor({ exporter: this.#exporter }), sample, '1.2.3')
  }

  get raw(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans()
  }

  get all(): readonly RecordedSpan[] {
    return this.raw.map(span => ({
      name: span.name,
      kind: SpanKind[span.kind].toLowerCase(),
      traceId: span.spanContext().traceId,
      spanId: span.spanContext().spanId,
      parent: span.parentSpanContext?.spanId,
      links: span.links.map(({ context }) => context.spanId),
      facts: { ...span.attributes },
      hasFailed: span.status.code === SpanStatusCode.ERROR,
    }))
  }

  of(kind: string): readonly RecordedSpan[] {
    return this.all.filter(span => span.kind === kind)
  }
}
