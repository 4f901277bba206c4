import type { RecordHeaders } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import { keptTraceIdOf, traceHeaders } from '../../core/trace/context.ts'
import { sendFacts } from '../../core/trace/facts.ts'
import type { Span, TraceContext, Tracer } from '../../core/trace/tracer.ts'
import type { HeldRecords } from './held-records.ts'
import type { Store } from './store.ts'

interface Deps {
  readonly store: Store
  readonly topics: Pick<TopicNames, 'events'>
  readonly tracer?: Tracer | undefined
}

/** The records that are accepted of one request. */
interface Accepted {
  readonly records: HeldRecords
  readonly sourceId: string
  /** Of the request; undefined without traces. */
  readonly trace: TraceContext | undefined
}

/** Stores events. With traces all of one request are one span, which their records name: deliveries are part of it. */
export function createTracedStore({ store, topics, tracer }: Deps): (accepted: Accepted) => ReturnType<Store> {
  return async accepted => {
    const { records } = accepted
    if (tracer === undefined) return store(records, noHeaders)
    const span = traceAppend(tracer, topics.events, accepted)
    const outcome = await store(records, traceHeaders(span.context), keptTraceIdOf(span.context))
    span.end({}, outcome === 'stored' ? undefined : outcome)
    return outcome
  }
}

const noHeaders: RecordHeaders = {}

function traceAppend(tracer: Tracer, topic: string, { records, sourceId, trace }: Accepted): Span {
  return tracer.start({
    name: `send ${topic}`,
    kind: 'producer',
    facts: {
      ...sendFacts(topic),
      'messaging.batch.message_count': records.size,
      'hookline.source': sourceId,
    },
    parent: trace,
  })
}
