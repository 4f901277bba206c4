import { getsAttempts, type Routing } from '../../core/delivery/route.ts'
import type { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock } from '../../core/ports.ts'
import type { DeliverySettings } from '../../core/settings/settings.ts'
import { type EpochMs, formatDuration } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import { type GroupMember, showGroup } from '../partitions/group-metrics.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createShowProgress, lagOf, showOldest } from '../partitions/progress-gauges.ts'
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
  /** The states of all destinations that have had a delivery. */
  readonly states: () => Iterable<Pick<DestinationState, 'destination' | 'breaker' | 'slowDown'>>
  readonly routing: () => Pick<Routing, 'destinations'>
  readonly oldestOpenMs: () => number
  /** Returns the state of a destination; `undefined` before its first delivery. */
  readonly findState: (destination: string) => DestinationState | undefined
}

/**
 * Returns a function that sets the gauges. It is called before each scrape, so the gauges cost
 * nothing while records are handled.
 */
export function createGauges(deps: Deps): () => void {
  const { metrics, clock, topics, limiter, groups } = deps
  const showProgress = createShowProgress(metrics, processor => ({
    position: processor.tracker.committable,
    // A partition is at rest if its next record is not due and no record is in progress. Records in
    // progress do not count if all of them are for destinations with limits, because their
    // deliveries may wait for a long time.
    isAtRest: processor.isPausedFor('not_due') && (processor.tracker.open === 0 || waitsOnlyForLimits(processor, deps)),
  }))

  /**
   * Sets the lag of each partition. All series are removed first. Otherwise a partition that
   * another process owns now would keep its series here, and sums over all processes would count it
   * twice.
   */
  function showLag(processors: readonly PartitionProcessor[]): void {
    metrics.consumerLag.reset()
    for (const processor of processors) {
      const { topic, partition } = processor
      metrics.consumerLag.set({ topic, partition: String(partition) }, lagOf(processor))
    }
  }

  function showOldestRecords(processors: readonly PartitionProcessor[], now: EpochMs): void {
    const open = Array.from(deps.open(), ({ record }) => record)
    metrics.oldestDueRetry.reset()
    for (const [topic, timestamp] of showOldest(metrics, processors, open, now)) {
      const tier = topics.tierOf(topic)
      // The gauge gets the time at which the oldest record in progress was due: its append time
      // (`timestamp`) plus the wait of its tier. Without a record in progress, `timestamp` is the
      // current time, and so is the value of the gauge.
      if (tier !== undefined)
        metrics.oldestDueRetry.set({ tier: formatDuration(tier) }, Math.min(now, timestamp + tier) / 1000)
    }
  }

  /**
   * Sets two gauges: the pace of each destination with a pace, and the pause of each destination
   * with a pause.
   */
  function showSlowDowns(): void {
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
   * Shows only circuit breakers that have opened at least once, so that most destinations need no
   * series. A removed, disabled or paused destination has no series either. It gets no further
   * attempts, so its circuit breaker may stay open until the process exits.
   */
  function showBreakers(): void {
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
    metrics.oldestOpenSeconds.set({}, deps.oldestOpenMs() / 1000)
    showSlowDowns()
    showBreakers()
    showGroup(metrics, 'dispatcher', groups.dispatcher)
    showGroup(metrics, 'retries', groups.retries)
    const processors = [...groups.dispatcher.partitions.processors(), ...groups.retries.partitions.processors()]
    showLag(processors)
    showProgress(processors, now)
    showOldestRecords(processors, now)
  }
}

/** Whether each record in progress of the partition is for a destination with a limit. */
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
