import { getsAttempts, type Routing } from '../../core/delivery/route.ts'
import type { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock } from '../../core/ports.ts'
import type { DeliverySettings } from '../../core/settings/settings.ts'
import { type EpochMs, formatDuration } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import { type GroupMember, setGroupMetrics } from '../partitions/group-metrics.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createSetProgress, lagOf, setOldestRecord } from '../partitions/progress-gauges.ts'
import type { AdmittedRecord } from './admitted-record.ts'
import type { DestinationState } from './delivery.ts'
import { hasLimit } from './destination-limits.ts'

interface Deps {
  readonly metrics: Metrics
  readonly clock: Clock
  readonly topics: TopicNames
  readonly limiter: ConcurrencyLimiter
  readonly delivery: Pick<DeliverySettings, 'maxInFlight'>
  readonly groups: { readonly [Name in 'dispatcher' | 'retries']: GroupMember }
  /** The records in progress, oldest first. */
  readonly open: () => Iterable<AdmittedRecord> & { readonly size: number }
  readonly states: () => Iterable<Pick<DestinationState, 'destination' | 'breaker' | 'slowDown'>>
  readonly routing: () => Pick<Routing, 'destinations'>
  readonly oldestInProgressMs: () => number
  /** `undefined` before the first delivery of the destination. */
  readonly findState: (destination: string) => DestinationState | undefined
}

/** Returns a function that sets the gauges before each scrape. */
export function createGauges(deps: Deps): () => void {
  const { metrics, clock, topics, limiter, groups } = deps
  const setProgress = createSetProgress(metrics, processor => ({
    position: processor.tracker.committable,
    // Records for destinations with limits may wait long. So a partition counts as at rest while
    // all its due records are in progress, and all records in progress are for these destinations.
    isAtRest: hasNoOtherDueRecord(processor) && waitsOnlyForLimits(processor, deps),
  }))

  /** Sets the lag of each partition. The reset removes partitions that another process owns now. */
  function setLagMetrics(processors: readonly PartitionProcessor[]): void {
    metrics.consumerLag.reset()
    for (const processor of processors) {
      const { topic, partition } = processor
      metrics.consumerLag.set({ topic, partition: String(partition) }, lagOf(processor))
    }
  }

  function setOldestRecordMetrics(processors: readonly PartitionProcessor[], now: EpochMs): void {
    const open = Array.from(deps.open(), ({ record }) => record)
    metrics.oldestDueRetry.reset()
    for (const [topic, timestamp] of setOldestRecord(metrics, processors, open, now)) {
      const tier = topics.tierOf(topic)
      // `timestamp` is the append time of the oldest record in progress, or the current time if no
      // record is in progress.
      if (tier !== undefined)
        metrics.oldestDueRetry.set({ tier: formatDuration(tier) }, Math.min(now, timestamp + tier) / 1000)
    }
  }

  /** Sets the pace and the pause of each destination that has one. */
  function setSlowDownMetrics(): void {
    metrics.destinationPace.reset()
    metrics.destinationPaused.reset()
    const now = clock.monotonic()
    for (const { destination, slowDown } of deps.states()) {
      if (!slowDown.isActive) continue
      const pace = slowDown.paceAt(now)
      if (pace !== undefined) metrics.destinationPace.set({ destination }, pace)
      const pausedMs = slowDown.msPaused(now)
      if (pausedMs > 0) metrics.destinationPaused.set({ destination }, pausedMs / 1_000)
    }
  }

  /**
   * Shows only circuit breakers that have opened at least once, to limit the number of series.
   * Omits destinations that get no attempts, because their circuit breakers cannot close.
   */
  function setBreakerMetrics(): void {
    metrics.breakersOpen.reset()
    const routing = deps.routing()
    for (const { destination, breaker } of deps.states())
      if (breaker.hasOpened && getsAttempts(destination, routing))
        metrics.breakersOpen.set({ destination }, breaker.isOpen ? 1 : 0)
  }

  return () => {
    const now = clock.now()
    metrics.callsInFlight.set({}, limiter.inFlight)
    metrics.callsInFlightLimit.set({}, deps.delivery.maxInFlight)
    metrics.recordsOpen.set({}, deps.open().size)
    metrics.oldestOpenSeconds.set({}, deps.oldestInProgressMs() / 1000)
    setSlowDownMetrics()
    setBreakerMetrics()
    setGroupMetrics(metrics, 'dispatcher', groups.dispatcher)
    setGroupMetrics(metrics, 'retries', groups.retries)
    const processors = [...groups.dispatcher.partitions.processors(), ...groups.retries.partitions.processors()]
    setLagMetrics(processors)
    setProgress(processors, now)
    setOldestRecordMetrics(processors, now)
  }
}

/** Whether each due record of the partition is in progress. */
const hasNoOtherDueRecord = (processor: PartitionProcessor): boolean =>
  processor.isPausedFor('not_due') || processor.tracker.received >= processor.highWatermark

/**
 * Whether each record in progress of the partition is for a destination with a limit. True without
 * a record in progress.
 */
function waitsOnlyForLimits(
  processor: PartitionProcessor,
  { open, findState }: Pick<Deps, 'open' | 'findState'>,
): boolean {
  for (const each of open()) {
    if (each.processor !== processor) continue
    const state = each.destination === undefined ? undefined : findState(each.destination)
    if (state === undefined || !hasLimit(state)) return false
  }
  return true
}
