import type { TopicPartition } from '../ports.ts'
import type { SpanFacts } from './tracer.ts'

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
