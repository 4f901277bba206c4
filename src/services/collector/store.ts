import type { MemoryBudget } from '../../core/collector/memory-budget.ts'
import type { Outage } from '../../core/collector/outage.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger, LogProducer, RecordHeaders } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import { keptTraceIdOf, traceHeaders } from '../../core/trace/context.ts'
import { type Span, sendFacts, type TraceContext, type Tracer } from '../../core/trace/tracer.ts'
import { durationMs } from '../../core/units.ts'
import type { HeldRecords } from './held-records.ts'

/** A sender waits no longer than this: many give up after ten seconds themselves, and it takes less to elect a new leader. */
const storeDeadline = durationMs(10_000)

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  readonly held: MemoryBudget
  readonly outage: Outage
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/**
 * Hands over the records of one request, at least one. `stored`: all in-sync replicas have each of them. `failed`: one was refused,
 * or the deadline is over; others may be stored all the same. `traceId`: of the trace that the request is part of, if that one is kept.
 */
export type Store = (held: HeldRecords, headers: RecordHeaders, traceId?: string) => Promise<'stored' | 'failed'>

export function createStore({ producer, topic, held, outage, clock, metrics, logger }: Deps): Store {
  function failed(error: Error): void {
    metrics.produceFailures.inc({ topic })
    if (outage.age(clock.monotonic()) === undefined)
      logger.error({ topic, error: error.message }, 'messages are not stored; most requests are refused until one is')
    outage.failed(clock.monotonic())
  }

  function acknowledged(): void {
    const age = outage.age(clock.monotonic())
    if (age !== undefined) logger.info({ topic, lastedMs: Math.round(age.lastedMs) }, 'messages are stored again')
    outage.acknowledged()
  }

  return (request, headers, traceId) => {
    const { records, bytes } = request.handOver()
    const startedAt = clock.monotonic()
    return new Promise(resolve => {
      let waiting = records.length
      let hasFailed = false
      const fail = (error: Error): void => {
        hasFailed = true
        failed(error)
        resolve('failed')
      }
      const cancel = clock.after(storeDeadline, () => fail(new Error(`no answer within ${storeDeadline} ms`)))
      const onAck = (error: Error | undefined): void => {
        waiting -= 1
        if (error === undefined) acknowledged()
        else fail(error)
        if (waiting > 0) return
        // Only now: what was refused to its sender still lies in the producer until it is answered.
        held.giveBack(bytes)
        cancel()
        metrics.collectorStoreSeconds.observe({}, (clock.monotonic() - startedAt) / 1_000, traceId)
        if (!hasFailed) resolve('stored')
      }
      for (const { key, value } of records) producer.append(topic, { key, value, headers }, onAck)
    })
  }
}

interface TracedStoreDeps {
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
export function createTracedStore({
  store,
  topics,
  tracer,
}: TracedStoreDeps): (accepted: Accepted) => ReturnType<Store> {
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
