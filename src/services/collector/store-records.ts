import type { KafkaOutage } from '../../core/collector/kafka-outage.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger, LogProducer, RecordHeaders } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import { sampledTraceIdOf, type TraceContext, traceHeaders } from '../../core/trace/context.ts'
import { type Span, sendFacts, type Tracer } from '../../core/trace/tracer.ts'
import { type HeldRecords, heldBytes } from './request-records-in-memory.ts'

/**
 * Maximum time that a request waits for Kafka: longer than a leader election, but not longer than
 * many senders wait for a response.
 */
const storeDeadline = durationMs(10_000)

/** Minimum time, in ms, between two warnings about failed writes outside an outage of Kafka. */
const warnEveryMs = 60_000

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  readonly outage: KafkaOutage
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/**
 * Appends the records of one request; `held` has at least one record. If the result is `failed`,
 * Kafka may have stored some of the records. When all appends have ended, perhaps minutes later,
 * calls `onFinished` with the number of failed records.
 */
export type StoreRecords = (
  held: HeldRecords,
  headers: RecordHeaders,
  onFinished: (failed: number) => void,
  traceId?: string,
) => Promise<'stored' | 'failed'>

export function createStore(deps: Deps): StoreRecords {
  const { producer, topic, clock, metrics } = deps
  const { failed, acknowledged } = createWriteResults(deps)

  return (request, headers, onFinished, traceId) => {
    const { records, release } = request.handOver()
    const startedAt = clock.monotonic()
    const { promise, resolve } = Promise.withResolvers<'stored' | 'failed'>()
    let waiting = records.length
    let hasFailed = false
    let notStored = 0
    const fail = (error: Error): void => {
      hasFailed = true
      failed(error)
      resolve('failed')
    }
    const cancel = clock.after(storeDeadline, () =>
      fail(new Error(`Kafka did not acknowledge the messages within ${storeDeadline} ms`)),
    )
    const onAck = (bytes: number, error: Error | undefined): void => {
      // Only this callback releases the memory, because the producer may hold the record even after
      // the request has failed.
      release(bytes)
      waiting -= 1
      if (error === undefined) acknowledged()
      else {
        notStored += 1
        fail(error)
      }
      if (waiting > 0) return
      cancel()
      onFinished(notStored)
      metrics.collectorStoreSeconds.observe({}, (clock.monotonic() - startedAt) / 1_000, traceId)
      if (!hasFailed) resolve('stored')
    }
    // No closure here may refer to `records` or a record. Otherwise, the closure would keep records
    // in memory that Kafka has already stored.
    for (const { key, value } of records) {
      const bytes = heldBytes({ key, value })
      producer.append(topic, { key, value, headers }, error => onAck(bytes, error))
    }
    return promise
  }
}

/**
 * Notes in `outage` whether each write succeeded. Logs the beginning and the end of an outage.
 * Failures without an outage are logged at most once a minute.
 */
function createWriteResults({ topic, outage, clock, metrics, logger }: Deps) {
  let warnedAt = Number.NEGATIVE_INFINITY

  function failed({ message: error }: Error): void {
    metrics.produceFailures.inc({ topic })
    const now = clock.monotonic()
    const wasOutage = outage.age(now) !== undefined
    outage.failed(now)
    if (wasOutage) return
    if (outage.age(now) !== undefined)
      logger.error(
        { topic, error },
        'the collector could not write messages to Kafka (see "error"), so their senders must send them again; until a write succeeds, the collector refuses all requests except one per second; check the Kafka brokers',
      )
    else if (now - warnedAt >= warnEveryMs) {
      warnedAt = now
      logger.warn(
        { topic, error },
        'Kafka did not store some messages (see "error"), so their senders must send them again; the collector still accepts requests; check that each partition of the topic has a leader and enough in-sync replicas',
      )
    }
  }

  function acknowledged(): void {
    const now = clock.monotonic()
    const age = outage.age(now)
    if (age !== undefined)
      logger.info(
        { topic, lastedMs: Math.round(age.lastedMs) },
        'writes to Kafka succeed again; the collector accepts requests again',
      )
    outage.acknowledged(now)
  }

  return { failed, acknowledged }
}

interface TracedStoreDeps {
  readonly store: StoreRecords
  readonly topics: Pick<TopicNames, 'events'>
  readonly tracer?: Tracer | undefined
}

/** The accepted records of one request. */
interface Accepted {
  readonly records: HeldRecords
  readonly sourceId: string
  readonly trace: TraceContext | undefined
  /** Gets the number of failed records (see `StoreRecords`). */
  readonly onFinished: (failed: number) => void
}

/**
 * Stores events. With tracing, one span covers all records of a request, and the deliveries of
 * these records belong to the trace of this span.
 */
export function createTracedStore({
  store,
  topics,
  tracer,
}: TracedStoreDeps): (accepted: Accepted) => ReturnType<StoreRecords> {
  return async accepted => {
    const { records, onFinished } = accepted
    if (tracer === undefined) return store(records, noHeaders, onFinished)
    const span = traceAppend(tracer, topics.events, accepted)
    const outcome = await store(records, traceHeaders(span.context), onFinished, sampledTraceIdOf(span.context))
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
