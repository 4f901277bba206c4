import { type AudiencesVitals, audiencesHealth, type Health } from '../../core/health.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import { durationMs } from '../../core/time.ts'
import { within } from '../../core/within-time-limit.ts'
import { setGroupMetrics } from '../partitions/group-metrics.ts'
import { OwnershipGate } from '../partitions/ownership-gate.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createPartitions } from '../partitions/partitions.ts'
import { createSetProgress, lagOf, setOldestRecord } from '../partitions/progress-gauges.ts'
import { createEndOffsetCheck } from '../partitions/read-end-offsets-for-lag.ts'
import { type AudiencesDeps, createAudiencePartitions } from './audience-partitions.ts'
import type { OwnedAudiencePartition } from './handle-inputs.ts'
import type { MembershipUpdatePacer } from './membership-update-pacer.ts'

/**
 * Maximum time for which `stop` waits for writes. The next owner processes unfinished inputs again.
 */
const drainLimit = durationMs(8_000)

export interface AudiencesService {
  /** Resolves when the group has been joined, before the memberships are loaded. */
  start(): Promise<void>
  /**
   * Starts no further writes, waits for those in progress, commits the offsets, and leaves the
   * group.
   */
  stop(): Promise<void>
  health(): Health
  refreshGauges(): void
  /** Topics with failed writes that the service still retries. */
  unwritableTopics(): readonly string[]
}

export function createAudiencesService(deps: AudiencesDeps): AudiencesService {
  const { consumer, clock, metrics, logger } = deps
  const gate = new OwnershipGate()
  const { held, inputs, writes, updates, logCheck, restoreInto, lost } = createAudiencePartitions({ ...deps, gate })
  const { unwritableTopics } = writes
  let phase: AudiencesVitals['phase'] = 'joining'

  const partitions = createPartitions({
    ...deps,
    maxInFlight: 0,
    dueAt: undefined,
    admission: {
      usesStalledLimits: () => true,
      assigned: (processor, position) => void restoreInto(processor, position),
      // A partition is paused until its memberships are loaded, so `held` has every partition that
      // gets records.
      admit: (record, processor) => inputs.take(record, held.get(processor) as OwnedAudiencePartition),
      lost,
      admitted: () => undefined,
      revoked: processor => void held.delete(processor),
      handOver: () => undefined,
      released: () => {
        gate.release()
        for (const each of held.values()) inputs.startReady(each)
      },
    },
  })

  const setProgress = createSetProgress(metrics, processor => {
    const owned = held.get(processor)
    // An input that runs alone, for example the end of a sync, can cause millions of writes while
    // the committable offset stays the same. So each write counts as progress.
    const written = owned?.order.isInputRunningAlone === true ? owned.tail.next : 0
    return { position: processor.tracker.committable + written, isAtRest: updates.isWaiting(processor) }
  })
  const tasks = [logCheck, createEndOffsetCheck({ ...deps, processors: partitions.processors })]

  /** Resolves with true when all inputs have ended, or with false after `drainLimit`. */
  function drained(): Promise<boolean> {
    const idle = Promise.all([...held.keys()].map(processor => processor.idle())).then(() => true)
    return within(clock, drainLimit, idle, () => false)
  }

  return {
    async start() {
      await consumer.start(partitions.handlers)
      phase = 'joined'
      for (const task of tasks) task.start()
    },
    async stop() {
      phase = 'stopping'
      gate.close()
      for (const task of tasks) task.stop()
      if (!(await drained()))
        logger.warn(
          { waitedMs: drainLimit },
          'shutdown timed out before this process had finished all records that it had read from the audience input topic; the unfinished records are not lost: the next owner of their partitions processes them again',
        )
      await consumer.stop()
    },
    health: () =>
      audiencesHealth({
        phase,
        silenceMs: consumer.timeSinceContact(),
        inactivityMs: consumer.inactivity(),
        partitions: [...partitions.processors()].length,
        restored: held.size,
        unwritableTopics: unwritableTopics(),
      }),
    refreshGauges: () => {
      setGroupMetrics(metrics, 'audiences', { partitions, consumer })
      const processors = [...partitions.processors()]
      setAudienceMetrics(metrics, { held: [...held.values()], processors, updates })
      const now = clock.now()
      setProgress(processors, now)
      const open = [...held.values()].flatMap(each => [...each.open])
      setOldestRecord(metrics, processors, open, now)
    },
    unwritableTopics,
  }
}

interface Shown {
  readonly held: readonly OwnedAudiencePartition[]
  readonly processors: readonly PartitionProcessor[]
  readonly updates: MembershipUpdatePacer
}

function setAudienceMetrics(metrics: Metrics, { held, processors, updates }: Shown): void {
  const sizes = held.map(({ state }) => state.size())
  const sum = (of: 'members' | 'bytes'): number => sizes.reduce((all, size) => all + size[of], 0)
  metrics.audienceMembers.set({}, sum('members'))
  metrics.audienceMemberBytes.set({}, sum('bytes'))
  metrics.audienceEmissionsWaiting.set({}, updates.waiting())
  metrics.audiencePartitions.set({ state: 'restored' }, held.length)
  metrics.audiencePartitions.set({ state: 'restoring' }, processors.length - held.length)
  // The reset removes the partitions that another process owns now.
  metrics.audienceInputLag.reset()
  for (const processor of processors)
    metrics.audienceInputLag.set({ partition: String(processor.partition) }, lagOf(processor))
}
