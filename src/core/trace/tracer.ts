import type { TopicPartition } from '../ports.ts'

/** A place in a trace, as headers carry it (W3C Trace Context). */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string | undefined
}

export type SpanFacts = Readonly<Record<string, string | number | boolean>>

export interface SpanStart {
  readonly name: string
  readonly kind: 'server' | 'producer' | 'consumer' | 'client'
  /** Never a user, a URL, or what a message says. */
  readonly facts: SpanFacts
  /** What it is a part of. Without one a trace begins. */
  readonly parent?: TraceContext | undefined
  /** Without a parent: what it follows from, hours later perhaps. A trace that begins so is kept if that one is. */
  readonly follows?: TraceContext | undefined
}

/** Something that takes its time. */
export interface Span {
  /** For whoever takes part from here on, whether it is kept or not. */
  readonly context: TraceContext
  /** Called once. `error`: why it failed, a word of a closed list. */
  end(facts: SpanFacts, error?: string): void
}

/** Never fails. Who is given none (traces are off) spends a comparison on it. */
export interface Tracer {
  start(span: SpanStart): Span
}

/** Of a span that writes records, as OpenTelemetry's semantic conventions for Kafka name them. */
export const sendFacts = (topic: string): SpanFacts => ({
  'messaging.system': 'kafka',
  'messaging.operation.type': 'send',
  'messaging.destination.name': topic,
})

/** Of a span that works on one record. */
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
