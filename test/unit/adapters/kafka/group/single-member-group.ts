import { GroupMembership } from '../../../../../src/adapters/kafka/group/group-membership.ts'
import type { LostPosition } from '../../../../../src/adapters/kafka/group/lost-position.ts'
import { type OwnedPartition, OwnedPartitions } from '../../../../../src/adapters/kafka/group/owned-partitions.ts'
import type { ConsumerGroup } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import type { Position, RecordBatch } from '../../../../../src/core/ports.ts'
import { durationMs } from '../../../../../src/core/time.ts'
import { ManualClock } from '../../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../../support/telemetry/recording-logger.ts'

export const owned = (partition: number, more: Partial<OwnedPartition> = {}): OwnedPartition => ({
  ...{ topic: 'topic', partition, next: 0, paused: false, isRevoking: false, committed: undefined, ...more },
})

/** Resolves after all pending promise callbacks. */
export const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/**
 * Rebalances assign the partitions `state.assigned`. `events` lists the calls of the group's
 * methods and of the handlers.
 */
export function setUp() {
  const events: string[] = []
  const note = (event: string): void => {
    events.push(event)
  }
  const pausedInKafkajs = new Set<number>()
  /** The offsets that were passed to kafkajs's `markOffsetAsCommitted`, by partition. */
  const knownInKafkajs = new Map<number, string>()
  const state = {
    assigned: [0],
    canAsk: true,
    /**
     * `since` is the offset that a search by time finds. `newAt` is the timestamp at this offset.
     */
    log: { beginning: 0, end: 100 } as { beginning: number; end: number; since?: number; newAt?: number },
    offsetsFail: undefined as Error | undefined,
    flush: async (): Promise<boolean> => true,
    drain: Promise.resolve(),
    beat: async (): Promise<void> => undefined,
  }
  const group = {
    groupId: 'group',
    memberId: 'me' as string | null,
    generationId: 1,
    assigned: () => [{ topic: 'topic', partitions: state.assigned }],
    pause: ([{ partitions }]: [{ partitions: number[] }]) => {
      note(`pause ${partitions}`)
      for (const partition of partitions) pausedInKafkajs.add(partition)
    },
    resume: (topics: { partitions: number[] }[]) => {
      for (const partition of topics.flatMap(({ partitions }) => partitions)) pausedInKafkajs.delete(partition)
    },
    seek: ({ partition, offset }: { partition: number; offset: string }) => note(`seek ${partition} to ${offset}`),
    leave: async () => note('leave'),
    coordinator: {
      heartbeat: () => state.beat(),
      offsetFetch: async ({ topics }: { topics: { partitions: { partition: number }[] }[] }) => {
        if (!state.canAsk) throw new Error('coordinator is loading')
        const partitions = topics[0]?.partitions.map(({ partition }) => ({ partition, offset: '10', metadata: '' }))
        return { responses: [{ topic: 'topic', partitions }] }
      },
    },
    cluster: {
      refreshMetadata: async () => undefined,
      markOffsetAsCommitted: ({ partition, offset }: { partition: number; offset: string }) =>
        void knownInKafkajs.set(partition, offset),
      fetchTopicsOffset: async ([{ fromBeginning, fromTimestamp }]: [
        { fromBeginning: boolean; fromTimestamp?: number },
      ]) => {
        if (state.offsetsFail !== undefined) throw state.offsetsFail
        const { beginning, end, since = -1, newAt = Number.POSITIVE_INFINITY } = state.log
        const found = newAt >= (fromTimestamp ?? 0) ? since : -1
        const offset = fromBeginning ? beginning : fromTimestamp === undefined ? end : found
        return [{ topic: 'topic', partitions: [{ offset: String(offset) }] }]
      },
    },
  }
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const partitions = new OwnedPartitions()
  const losses: LostPosition[] = []
  const batches: RecordBatch[] = []
  const member = new GroupMembership({
    owned: partitions,
    handlers: {
      onAssigned: positions => note(`assigned ${positions.map(described)}`),
      onRevoked: revoked => note(`revoked ${revoked.map(({ partition }) => partition)}`),
      onRecords: batch => batches.push(batch),
      positions: () => [],
      onRevoking: async revoking => {
        if (revoking.length > 0) note(`revoking ${revoking.map(({ partition }) => partition)}`)
        await state.drain
      },
      onLeaseAcquired: () => undefined,
    },
    maxWait: durationMs(500),
    maxWaitWhilePaused: durationMs(100),
    flush: () => {
      note('flush')
      return state.flush()
    },
    deliver: async () => undefined,
    onJoined: () => note('joined'),
    onPositionLost: loss => losses.push(loss),
    clock,
    logger,
  })
  const it = group as unknown as ConsumerGroup
  const join = (during: () => Promise<void> = async () => undefined): Promise<void> => member.join(it, during)
  const inKafkajs = { pausedInKafkajs, knownInKafkajs }
  return { member, group, it, join, state, events, owned: partitions, clock, logger, losses, batches, ...inKafkajs }
}

const described = ({ partition, offset, isTruncated, isUncommitted }: Position): string =>
  `${partition}@${offset}${isTruncated === true ? ' truncated' : ''}${isUncommitted === true ? ' uncommitted' : ''}`
