import { BodyBudget, type BodyBudgetLimits, MemoryBudget } from '../../core/collector/memory-budget.ts'
import { Outage } from '../../core/collector/outage.ts'
import type { SourceKeys } from '../../core/collector/source-keys.ts'
import type { TrackingApi } from '../../core/collector/tracking-api.ts'
import { type CollectorVitals, collectorHealth, type Health } from '../../core/health.ts'
import { refusal } from '../../core/message/refusal.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, EventCodec, Logger, LogProducer } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import { createAccept } from './accept.ts'
import { createAdmissionControl } from './admission.ts'
import { createKeepRejected } from './rejects.ts'
import { createStore } from './store.ts'
import { createTurns } from './turns.ts'

export interface CollectorDeps {
  readonly producer: LogProducer
  readonly codec: EventCodec
  /** Of deleted users; started before. */
  readonly marks: Pick<SuppressionList, 'size' | 'stops'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly topics: Pick<TopicNames, 'events' | 'rejected'>
  /** Whose write key is whose, as of now. */
  readonly sources: () => SourceKeys
  /** Messages a second; undefined: no limit. */
  readonly ratePerSource: number | undefined
  readonly tracer?: Tracer | undefined
  /** Maximum bytes: of request bodies, of requests of operators, and of records that are not acknowledged. */
  readonly memory: { readonly bodies: BodyBudgetLimits; readonly operators: number; readonly records: number }
}

/** Requests in, acknowledged records out. */
export interface CollectorService extends TrackingApi {
  /** Requests come in from now on. */
  listening(): void
  /** Not to be counted on any more; what comes all the same is still taken. */
  lastCall(): void
  /** Refuses what comes; resolves when everything under way is answered, which the deadline of the store bounds. */
  stop(): Promise<void>
  health(): Health
  /** Sets the gauges to what holds now. */
  refreshGauges(): void
}

export function createCollectorService(deps: CollectorDeps): CollectorService {
  const { clock, metrics, topics, memory, sources } = deps
  const outage = new Outage()
  const bodies = new BodyBudget(
    memory.bodies,
    () => clock.monotonic(),
    cause => metrics.collectorBodiesRefused.inc({ cause }),
  )
  const operators = new MemoryBudget(memory.operators)
  const records = new MemoryBudget(memory.records)
  const store = createStore({ ...deps, topic: topics.events, held: records, outage })
  const nextTurn = createTurns(clock)
  const keepRejected = createKeepRejected({ ...deps, topic: topics.rejected, held: records, nextTurn })
  const admission = createAdmissionControl({ ...deps, outage })
  const accept = createAccept({ ...deps, admission, store, held: records, keepRejected, outage, nextTurn })
  const stopped = Promise.withResolvers<void>()
  let phase: CollectorVitals['phase'] = 'starting'
  let underWay = 0
  const isDrained = (): boolean => phase === 'stopping' && underWay === 0

  return {
    async accept(request) {
      if (phase === 'stopping')
        return refusal('unavailable', 'This process is ending: send it again.', { retryAfter: 1 })
      underWay += 1
      try {
        return await accept(request)
      } finally {
        underWay -= 1
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
    lastCall() {
      phase = 'last call'
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
      metrics.collectorHeldBytesLimit.set({ what: 'bodies' }, memory.bodies.authenticated)
      metrics.collectorHeldBytesLimit.set({ what: 'keyless' }, memory.bodies.keyless)
      metrics.collectorHeldBytesLimit.set({ what: 'records' }, memory.records)
    },
  }
}
