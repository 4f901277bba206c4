import { KafkaOutage } from '../../core/collector/kafka-outage.ts'
import { MemoryBudget } from '../../core/collector/memory-budget.ts'
import { SharedMemory } from '../../core/collector/memory-limit-by-group.ts'
import { BodyBudget, type BodyBudgetLimits } from '../../core/collector/request-body-memory-budget.ts'
import type { SourceKeys } from '../../core/collector/source-keys.ts'
import type { TrackingApi } from '../../core/collector/tracking-api.ts'
import { type CollectorVitals, collectorHealth, type Health } from '../../core/health.ts'
import { refusal } from '../../core/message/request-refusal.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, EventCodec, Logger, LogProducer } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import { createAccept } from './accept-tracking-request.ts'
import { createAdmissionControl } from './admission-control.ts'
import { createFairTurns } from './fair-turns.ts'
import { createStore } from './store-records.ts'
import { createKeepRejected } from './write-rejected-messages.ts'

/** Maximum bytes of memory for each purpose. */
export interface CollectorMemory {
  /** Memory for tracking requests: their bodies, rejected messages, and long responses. */
  readonly bodies: BodyBudgetLimits
  /** Memory for requests to the operator API, in bytes. */
  readonly operators: number
  /** Memory for events that Kafka has not acknowledged, in bytes. */
  readonly records: number
  /** Memory for rejected messages that Kafka has not acknowledged, in bytes. */
  readonly rejected: number
}

export interface CollectorDeps {
  readonly producer: LogProducer
  readonly codec: EventCodec
  /** The suppression list, which must have been started. */
  readonly suppressions: Pick<SuppressionList, 'size' | 'get' | 'stops'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly topics: Pick<TopicNames, 'events' | 'rejected'>
  readonly sources: () => SourceKeys
  /** Maximum messages per second of one source in this process. */
  readonly ratePerSource: number | undefined
  readonly tracer?: Tracer | undefined
  readonly memory: CollectorMemory
}

/** Accepts tracking requests and stores their messages in Kafka. */
export interface CollectorService extends TrackingApi {
  /** Called when the HTTP server accepts requests. Until then, the process is not ready. */
  listening(): void
  /** Reports the process as not ready. Requests that still arrive are accepted. */
  startDraining(): void
  /**
   * Refuses new requests, and resolves when all earlier requests are answered, normally within 10
   * s.
   */
  stop(): Promise<void>
  health(): Health
  refreshGauges(): void
}

export function createCollectorService(deps: CollectorDeps): CollectorService {
  const { clock, metrics, topics, memory, sources } = deps
  const outage = new KafkaOutage()
  const bodies = new BodyBudget(
    memory.bodies,
    () => clock.monotonic(),
    cause => metrics.collectorBodiesRefused.inc({ cause }),
  )
  const operators = new MemoryBudget(memory.operators)
  const records = new SharedMemory(memory.records)
  const rejected = new SharedMemory(memory.rejected)
  const store = createStore({ ...deps, topic: topics.events, outage })
  const turns = createFairTurns(clock)
  const keepRejected = createKeepRejected({ ...deps, topic: topics.rejected, held: rejected, nextTurn: turns.next })
  const admission = createAdmissionControl({ ...deps, outage })
  const accept = createAccept({ ...deps, admission, store, held: records, keepRejected, outage, turns })
  const stopped = Promise.withResolvers<void>()
  let phase: CollectorVitals['phase'] = 'starting'
  let inProgress = 0
  const isDrained = (): boolean => phase === 'stopping' && inProgress === 0

  return {
    async accept(request) {
      if (phase === 'stopping')
        return refusal('unavailable', 'The collector is shutting down: send the request again.', { retryAfter: 1 })
      inProgress += 1
      try {
        return await accept(request)
      } finally {
        inProgress -= 1
        if (isDrained()) stopped.resolve()
      }
    },
    isWriteKey: key => sources().sourceOf(key) !== undefined,
    admit: admission.admit,
    openBody: (owner, onEvicted) => bodies.open(owner, onEvicted),
    reserve: bytes => operators.take(bytes),
    release: bytes => operators.giveBack(bytes),
    listening() {
      phase = 'listening'
    },
    startDraining() {
      phase = 'draining'
    },
    stop() {
      phase = 'stopping'
      if (isDrained()) stopped.resolve()
      return stopped.promise
    },
    health: () => collectorHealth({ phase, outage: outage.age(clock.monotonic()) }),
    refreshGauges() {
      metrics.collectorHeldBytes.set({ what: 'bodies' }, bodies.held.authenticated)
      metrics.collectorHeldBytes.set({ what: 'keyless' }, bodies.held.keyless)
      metrics.collectorHeldBytes.set({ what: 'records' }, records.held)
      metrics.collectorHeldBytes.set({ what: 'rejected' }, rejected.held)
      metrics.collectorHeldBytesLimit.set({ what: 'bodies' }, memory.bodies.authenticated)
      metrics.collectorHeldBytesLimit.set({ what: 'keyless' }, memory.bodies.keyless)
      metrics.collectorHeldBytesLimit.set({ what: 'records' }, memory.records)
      metrics.collectorHeldBytesLimit.set({ what: 'rejected' }, memory.rejected)
    },
  }
}
