import { keyOf } from '../../core/message/event.ts'
import type { Message } from '../../core/message/message.ts'
import type { EventCodec, OutgoingRecord, RecordHeaders } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import { keptTraceIdOf, traceHeaders } from '../../core/trace/context.ts'
import { sendFacts } from '../../core/trace/facts.ts'
import type { Span, TraceContext, Tracer } from '../../core/trace/tracer.ts'
import type { EpochMs } from '../../core/units.ts'
import type { Store } from './store.ts'

interface Deps {
  readonly codec: EventCodec
  readonly store: Store
  readonly topics: Pick<TopicNames, 'events'>
  readonly tracer?: Tracer | undefined
}

/** The messages that are taken of one request. */
interface Taken {
  readonly messages: readonly Message[]
  readonly sourceId: string
  readonly receivedAt: EpochMs
  /** Of the request; undefined without traces. */
  readonly trace: TraceContext | undefined
}

/** Stores messages as events. With traces all of one request are one span, which their records name: deliveries are part of it. */
export function createTracedStore({ codec, store, topics, tracer }: Deps): (taken: Taken) => ReturnType<Store> {
  function recordsOf({ messages, sourceId, receivedAt }: Taken, headers: RecordHeaders): readonly OutgoingRecord[] {
    return messages.map(message => {
      const event = { sourceId, destinationId: undefined, receivedAt, canonical: true, origin: undefined, message }
      const key = keyOf(message)
      return { key: key === undefined ? null : Buffer.from(key), value: codec.encode(event), headers }
    })
  }

  return async taken => {
    if (tracer === undefined) return store(recordsOf(taken, noHeaders))
    const span = traceAppend(tracer, topics.events, taken)
    const outcome = await store(recordsOf(taken, traceHeaders(span.context)), keptTraceIdOf(span.context))
    span.end({}, outcome === 'stored' ? undefined : outcome)
    return outcome
  }
}

const noHeaders: RecordHeaders = {}

function traceAppend(tracer: Tracer, topic: string, { messages, sourceId, trace }: Taken): Span {
  return tracer.start({
    name: `send ${topic}`,
    kind: 'producer',
    facts: {
      ...sendFacts(topic),
      'messaging.batch.message_count': messages.length,
      'hookline.source': sourceId,
    },
    parent: trace,
  })
}
