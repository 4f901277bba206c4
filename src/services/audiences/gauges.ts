import type { Metrics } from '../../core/metrics.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { Emissions } from './emissions.ts'
import type { Held } from './inputs.ts'

interface Shown {
  /** Those of the processors that are restored. */
  readonly held: readonly Held[]
  readonly processors: readonly PartitionProcessor[]
  readonly emissions: Emissions
}

/** Sets the gauges of audiences to what holds now. */
export function showAudiences(metrics: Metrics, { held, processors, emissions }: Shown): void {
  const sizes = held.map(({ state }) => state.size())
  const sum = (of: 'members' | 'bytes'): number => sizes.reduce((all, size) => all + size[of], 0)
  metrics.audienceMembers.set({}, sum('members'))
  metrics.audienceMemberBytes.set({}, sum('bytes'))
  metrics.audienceEmissionsWaiting.set({}, emissions.waiting())
  metrics.audiencePartitions.set({ state: 'restored' }, held.length)
  metrics.audiencePartitions.set({ state: 'restoring' }, processors.length - held.length)
  // Partitions that are another's by now must not stay.
  metrics.audienceInputLag.reset()
  for (const { partition, highWatermark, tracker } of processors)
    metrics.audienceInputLag.set({ partition: String(partition) }, Math.max(0, highWatermark - tracker.committable))
}
