import type { Places } from '../../core/delivery/places.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Clock } from '../../core/ports.ts'
import type { DeliverySettings } from '../../core/settings.ts'
import type { TopicNames } from '../../core/topics.ts'
import { type EpochMs, formatDuration } from '../../core/units.ts'
import { type GroupMember, showGroup } from '../partitions/group-gauges.ts'
import type { Shard } from '../partitions/shard.ts'
import type { OpenRecord } from './delivery.ts'

interface Deps {
  readonly metrics: Metrics
  readonly clock: Clock
  readonly topics: TopicNames
  readonly places: Places
  readonly delivery: Pick<DeliverySettings, 'maxInFlight'>
  readonly groups: { readonly [Name in 'dispatcher' | 'retries']: GroupMember }
  /** In the order in which they were taken up. */
  readonly open: () => Iterable<OpenRecord> & { readonly size: number }
  readonly oldestOpenMs: () => number
  readonly unwritableTopics: () => readonly string[]
}

/** Shows what holds now; asked before each exposition, so that nothing of it costs anything on the way of a record. */
export function createGauges(deps: Deps): () => void {
  const { metrics, clock, topics, places, groups } = deps
  const progressOf = createProgress()

  /** Those of partitions that are another's by now must not stay: sums over all processes would count them twice. */
  function showPartitions(shards: readonly Shard[], now: EpochMs): void {
    metrics.consumerLag.reset()
    metrics.partitionProgress.reset()
    for (const shard of shards) {
      const labels = { topic: shard.topic, partition: String(shard.partition) }
      metrics.consumerLag.set(labels, lagOf(shard))
      metrics.partitionProgress.set(labels, progressOf(shard, now) / 1000)
    }
  }

  function showOldest(shards: readonly Shard[], now: EpochMs): void {
    const oldest = new Map<string, number>(shards.map(({ topic }) => [topic, now]))
    for (const { record } of deps.open())
      if (record.timestamp < (oldest.get(record.topic) ?? 0)) oldest.set(record.topic, record.timestamp)
    metrics.oldestRecord.reset()
    metrics.oldestDueRetry.reset()
    for (const [topic, timestamp] of oldest) {
      metrics.oldestRecord.set({ topic }, timestamp / 1000)
      const tier = topics.tierOf(topic)
      // What is open was due when it was taken up.
      if (tier !== undefined)
        metrics.oldestDueRetry.set({ tier: formatDuration(tier) }, Math.min(now, timestamp + tier) / 1000)
    }
  }

  return () => {
    const now = clock.now()
    metrics.callsInFlight.set({}, places.inFlight)
    metrics.callsInFlightLimit.set({}, deps.delivery.maxInFlight)
    metrics.recordsOpen.set({}, deps.open().size)
    metrics.oldestOpenSeconds.set({}, deps.oldestOpenMs() / 1000)
    metrics.unwritableTopics.set({}, deps.unwritableTopics().length)
    showGroup(metrics, 'dispatcher', groups.dispatcher)
    showGroup(metrics, 'retries', groups.retries)
    const shards = [...groups.dispatcher.partitions.shards(), ...groups.retries.partitions.shards()]
    showPartitions(shards, now)
    showOldest(shards, now)
  }
}

function lagOf({ highWatermark, tracker }: Shard): number {
  return Math.max(0, highWatermark - tracker.committable)
}

/** When a partition last moved or had nothing to do, as far as it was looked at. */
function createProgress(): (shard: Shard, now: EpochMs) => EpochMs {
  const seen = new WeakMap<Shard, { readonly offset: number; readonly at: EpochMs }>()
  return (shard, now) => {
    const offset = shard.tracker.committable
    const last = seen.get(shard)
    const isAtRest = shard.holds('not_due') || lagOf(shard) === 0
    if (last !== undefined && last.offset === offset && !isAtRest) return last.at
    seen.set(shard, { offset, at: now })
    return now
  }
}
