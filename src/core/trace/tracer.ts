import type { TopicPartition } from '../ports.ts'
import type { TraceContext } from './context.ts'

export type SpanFacts = Readonly<Record<string, string | number | boolean>>

export interface SpanStart {
  readonly name: string
  readonly kind: 'server' | 'producer' | 'consumer' | 'client'
  /** Attributes, which never contain a user, a URL or message content. */
  readonly facts: SpanFacts
  /** The parent span. A span without a parent starts a new trace. */
  readonly parent?: TraceContext | undefined
  /**
   * A span of an earlier trace. If the new span has no `parent`, it starts a new trace, with a link
   * to this earlier span. If the earlier trace is sampled, the new trace is sampled too.
   */
  readonly follows?: TraceContext | undefined
}

/** A span: a timed operation of a trace. */
export interface Span {
  readonly context: TraceContext
  /**
   * Ends the span. May be called only once. A span that never ends is discarded. `error`: the
   * attribute `error.type`, from a fixed set of values.
   */
  end(facts: SpanFacts, error?: string): void
}

/** Starts spans. Never throws. */
export interface Tracer {
  start(span: SpanStart): Span
}

/** Attributes of a span that writes records (OpenTelemetry's semantic conventions for Kafka). */
export const sendFacts = (topic: string): SpanFacts => ({
  'messaging.system': 'kafka',
  'messaging.operation.type': 'send',
  'messaging.destination.name': topic,
})

/** Attributes of a span that processes one record. */
export const processFacts = ({
  topic,
  partition,
  offset,
}: TopicPartition & { readonly offset: number }): SpanFacts => ({
  'messaging.system': 'kafka',
  'messaging.operation.type': 'process',
  'messaging.destination.name': topic,
  'messaging.destination.partition.id': String(partition),
  'messaging.kafka.offset': offset,
})
