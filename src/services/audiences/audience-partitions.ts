import { AudiencePartition } from '../../core/audience/audience-partition.ts'
import type { AudienceDirectory } from '../../core/audience/configured-audiences.ts'
import type { AudienceInput } from '../../core/audience/input.ts'
import type { MembershipRecord } from '../../core/audience/membership-and-watermark-records.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type {
  Clock,
  EventCodec,
  LogConsumer,
  Logger,
  LogProducer,
  OutgoingRecord,
  PartitionReader,
  Position,
  ValueCodec,
} from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { OwnershipGate } from '../partitions/ownership-gate.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { ReadEndOffsets } from '../partitions/read-end-offsets-for-lag.ts'
import type { PeriodicTask } from '../periodic-task.ts'
import { type AudienceWrites, createAudienceWrites } from './append-audience-records-until-stored.ts'
import { Inputs, type OwnedAudiencePartition, ownedAudiencePartitionWith } from './handle-inputs.ts'
import { createMembershipUpdatePacer, type MembershipUpdatePacer } from './membership-update-pacer.ts'
import { createMembershipsReader } from './memberships-reader.ts'
import { createLogCheck, createReadTail } from './read-unread-membership-records.ts'
import { createRestore } from './restore-memberships.ts'
import { createWriteChanges } from './write-changes.ts'

/** The partitions whose audience memberships this process has loaded. */
export interface AudiencePartitions {
  readonly held: ReadonlyMap<PartitionProcessor, OwnedAudiencePartition> &
    Pick<Map<PartitionProcessor, OwnedAudiencePartition>, 'delete'>
  readonly inputs: Inputs
  readonly writes: AudienceWrites
  readonly updates: MembershipUpdatePacer
  /** Regularly searches the memberships topic for records that are missing in memory. */
  readonly logCheck: PeriodicTask
  /**
   * Pauses a partition and loads its memberships. If memberships exist, but `position` has no
   * committed offset, input records may have been lost. In this case, also cancels full syncs, like
   * `lost`.
   */
  restoreInto(processor: PartitionProcessor, position: Position): Promise<void>
  /**
   * Called after Kafka lost unread records. Cancels the full syncs that have begun: their end would
   * remove a user whom a lost record may have listed. Also cancels full syncs that begin in the
   * minute after this call: the clocks of brokers may differ, so these syncs may have begun earlier
   * (`afterUnreadInput`).
   */
  lost(processor: PartitionProcessor): void
}

export function createAudiencePartitions(deps: AudiencesDeps & { readonly gate: OwnershipGate }): AudiencePartitions {
  const { clock, metrics, logger, topics, codecs, directory, suppressions, gate } = deps
  const held = new Map<PartitionProcessor, OwnedAudiencePartition>()

  function onStored(topic: string, { partition }: OutgoingRecord, offset: number): void {
    if (topic !== topics.memberships) return
    for (const each of held.values()) {
      if (each.processor.partition !== partition) continue
      each.tail.acknowledged(offset)
      if (each.tail.hasUnread) void readTail(each)
    }
  }

  const writes = createAudienceWrites({ ...deps, onStored })
  const updates = createMembershipUpdatePacer(clock, deps.emitPerSecond)
  const writeChanges = createWriteChanges({ ...deps, ...codecs, writes, updates })
  const inputs = new Inputs({ ...deps, codec: codecs.inputs, writeChanges, writes, gate })
  const log = createMembershipsReader({ ...deps, codec: codecs.memberships, topic: topics.memberships })
  const readTail = createReadTail({
    ...deps,
    log,
    onFound: (records, each: OwnedAudiencePartition) => inputs.takeFound(records, each, false),
  })
  const restore = createRestore({
    ...deps,
    log,
    newPartition: inputEnd =>
      new AudiencePartition({ directory, inputEnd, stops: about => suppressions.stops(about, clock.now()) }),
  })

  return {
    held,
    inputs,
    writes,
    updates,
    logCheck: createLogCheck({ ...deps, log, readTail, held: () => held.values() }),
    async restoreInto(processor, { isUncommitted }) {
      processor.pause('restore')
      // Without a committed offset, records may be lost. The pause prevents a commit, so that the
      // next owner also notices the possible loss.
      if (isUncommitted === true) processor.pause('loss')
      const restored = await restore(processor)
      if (restored === undefined || processor.revoked) return
      const now = ownedAudiencePartitionWith(processor, restored)
      held.set(processor, now)
      inputs.takeFound(restored.stale, now, true)
      if (isUncommitted === true && restored.next === 0) processor.resume('loss')
      else if (isUncommitted === true) {
        const { topic, partition, tracker } = processor
        logger.error({ topic, partition, to: tracker.received }, commitsLost)
        metrics.positionsLost.inc({ topic }, 1)
      }
      if (processor.isPausedFor('loss')) inputs.cancelSyncs(now)
      processor.resume('restore')
    },
    lost(processor) {
      processor.pause('loss')
      const owned = held.get(processor)
      if (owned !== undefined) inputs.cancelSyncs(owned)
    },
  }
}

const commitsLost =
  'the audiences service has no committed offset for this partition, and Kafka may have deleted audience syncs, resets or user deletions before Hookline read them: follow the runbook HooklineRecordsLost'

export interface AudiencesDeps {
  /** Consumer of the audience-input topic. */
  readonly consumer: LogConsumer
  readonly reader: PartitionReader
  readonly readEndOffsets: ReadEndOffsets
  readonly producer: LogProducer
  readonly codecs: {
    readonly events: EventCodec
    readonly inputs: ValueCodec<AudienceInput>
    readonly memberships: ValueCodec<MembershipRecord>
  }
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly topics: TopicNames
  /** Returns the audiences of the current configuration. */
  readonly directory: () => AudienceDirectory
  readonly emitPerSecond: () => number
  /** The suppression list, read to its end before the service starts. */
  readonly suppressions: Pick<SuppressionList, 'stops' | 'age'>
  readonly tracer?: Tracer | undefined
}
