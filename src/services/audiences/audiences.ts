import { type AudiencesVitals, audiencesHealth, type Health } from '../../core/health.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import { durationMs } from '../../core/units.ts'
import { showGroup } from '../partitions/group-gauges.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createPartitions } from '../partitions/partitions.ts'
import type { Held } from './inputs.ts'
import type { MembershipUpdates } from './membership-updates.ts'
import { type AudiencesDeps, createOwnedPartitions } from './owned-partitions.ts'
import { Gate } from './writes.ts'

/** A write is answered within 10 s, and each state is written after its identify. */
const drainLimit = durationMs(8_000)

/** Observations and reports in, identify messages and memberships out, until stopped. */
export interface AudiencesService {
  /** Resolves when the group has been joined; memberships are restored after that. */
  start(): Promise<void>
  /** Starts nothing new, waits for what is being written, commits, leaves the group. */
  stop(): Promise<void>
  health(): Health
  /** Sets the gauges to what holds now. */
  refreshGauges(): void
}

export function createAudiencesService(deps: AudiencesDeps): AudiencesService {
  const { consumer, clock, metrics, logger } = deps
  const gate = new Gate(consumer)
  const { held, inputs, writes, updates, logCheck, restoreInto } = createOwnedPartitions({ ...deps, gate })
  let phase: AudiencesVitals['phase'] = 'joining'

  const partitions = createPartitions({
    consumer,
    clock,
    maxInFlight: 0,
    dueAt: undefined,
    admission: {
      prefetchesDeeper: () => true,
      assigned: processor => void restoreInto(processor),
      // The partition is paused until it is restored.
      admit: (record, processor) => inputs.take(record, held.get(processor) as Held),
      admitted: () => undefined,
      revoked: processor => void held.delete(processor),
      handOver: () => undefined,
      released: () => {
        gate.release()
        for (const each of held.values()) inputs.goOn(each)
      },
    },
  })

  /** True: in time. */
  async function drained(): Promise<boolean> {
    const idle = Promise.all([...held.keys()].map(processor => processor.idle())).then(() => true)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const cancel = clock.after(drainLimit, () => resolve(false))
    return Promise.race([idle, promise]).finally(cancel)
  }

  return {
    async start() {
      await consumer.start(partitions.handlers)
      phase = 'joined'
      logCheck.start()
    },
    async stop() {
      phase = 'stopping'
      gate.close()
      logCheck.stop()
      if (!(await drained()))
        logger.warn({ waitedMs: drainLimit }, 'not everything was written in time; it is done again after the restart')
      await consumer.stop()
    },
    health: () =>
      audiencesHealth({
        phase,
        silenceMs: consumer.silence(),
        inactivityMs: consumer.inactivity(),
        partitions: [...partitions.processors()].length,
        restored: held.size,
        unwritableTopics: writes.unwritableTopics(),
      }),
    refreshGauges: () => {
      showGroup(metrics, 'audiences', { partitions, consumer })
      showAudiences(metrics, { held: [...held.values()], processors: [...partitions.processors()], updates })
    },
  }
}

interface Shown {
  /** Those of the processors that are restored. */
  readonly held: readonly Held[]
  readonly processors: readonly PartitionProcessor[]
  readonly updates: MembershipUpdates
}

/** Sets the gauges of audiences to what holds now. */
function showAudiences(metrics: Metrics, { held, processors, updates }: Shown): void {
  const sizes = held.map(({ state }) => state.size())
  const sum = (of: 'members' | 'bytes'): number => sizes.reduce((all, size) => all + size[of], 0)
  metrics.audienceMembers.set({}, sum('members'))
  metrics.audienceMemberBytes.set({}, sum('bytes'))
  metrics.audienceEmissionsWaiting.set({}, updates.waiting())
  metrics.audiencePartitions.set({ state: 'restored' }, held.length)
  metrics.audiencePartitions.set({ state: 'restoring' }, processors.length - held.length)
  // Partitions that are another's by now must not stay.
  metrics.audienceInputLag.reset()
  for (const { partition, highWatermark, tracker } of processors)
    metrics.audienceInputLag.set({ partition: String(partition) }, Math.max(0, highWatermark - tracker.committable))
}
