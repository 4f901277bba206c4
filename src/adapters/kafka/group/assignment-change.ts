import type { Clock, Logger, TopicPartition } from '../../../core/ports.ts'
import { durationMs } from '../../../core/time.ts'
import { errorCodeOf, isBrokerUnavailable, rejoinError } from '../kafkajs/errors.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import { refreshMetadataAfter } from '../kafkajs/refresh-metadata-after-delay.ts'
import { fetchOffset } from '../log/partition-offsets.ts'
import { groupByTopic, type OwnedPartition, type OwnedPartitions } from './owned-partitions.ts'

/** The member id, and the generation of the consumer group, after a join. */
export interface MemberGeneration {
  readonly memberId: string | null
  readonly generation: number
}

export const memberGenerationOf = ({ memberId, generationId }: ConsumerGroup): MemberGeneration => ({
  memberId,
  generation: generationId,
})

/**
 * Whether this member owned its partitions without interruption between two joins. After two or
 * more generations, another member may have owned them.
 */
export function isContinuous(last: MemberGeneration | undefined, now: MemberGeneration): boolean {
  if (last === undefined || now.memberId === null || last.memberId !== now.memberId) return false
  return now.generation === last.generation || now.generation === last.generation + 1
}

/**
 * The difference between the assignments before and after a join. If the member has missed a
 * generation, all its previous partitions are in `lost`, and all assigned ones in `gained`.
 */
export interface AssignmentChange {
  readonly lost: readonly OwnedPartition[]
  readonly gained: readonly OwnedPartition[]
}

/**
 * Compares the owned partitions with the assignment, and fetches the committed offsets of the
 * gained partitions.
 * @throws an error of the coordinator or the metadata
 */
export async function assignmentChange(
  group: ConsumerGroup,
  owned: readonly OwnedPartition[],
  last: MemberGeneration | undefined,
): Promise<AssignmentChange> {
  const assigned = group
    .assigned()
    .flatMap(({ topic, partitions }) => partitions.map(partition => ({ topic, partition })))
  if (!isContinuous(last, memberGenerationOf(group)))
    return { lost: owned, gained: await withPositions(group, assigned) }
  return {
    lost: owned.filter(each => !assigned.some(isSame(each))),
    gained: await withPositions(
      group,
      assigned.filter(each => !owned.some(isSame(each))),
    ),
  }
}

const maxOffsetFetches = 5
const offsetFetchRetryAfter = durationMs(200)

interface RetryDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly isEnded: () => boolean
}

/**
 * Calls `assignmentChange`, with up to four retries while `isEnded` returns false.
 * @throws an error that makes kafkajs join again, if the last try has failed
 */
export async function assignmentChangeWithRetries(
  group: ConsumerGroup,
  owned: OwnedPartitions,
  last: MemberGeneration | undefined,
  { clock, logger, isEnded }: RetryDeps,
): Promise<AssignmentChange> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await assignmentChange(group, owned.all(), last)
    } catch (error) {
      logger.debug(
        { group: group.groupId, code: errorCodeOf(error) },
        'hookline cannot fetch the committed offsets of the group; it retries, and joins the group again after 5 failures',
      )
      if (attempt === maxOffsetFetches || isEnded()) throw rejoinError()
      await refreshMetadataAfter(clock, group.cluster, offsetFetchRetryAfter)
    }
  }
}

/**
 * Adds the position to each partition: the committed offset or, if no offset is committed, the
 * beginning of the log. If the leader is unavailable, the position is 0 until a fetch finds the
 * beginning.
 */
async function withPositions(group: ConsumerGroup, partitions: readonly TopicPartition[]): Promise<OwnedPartition[]> {
  if (partitions.length === 0) return []
  const { responses } = await group.coordinator.offsetFetch({
    groupId: group.groupId,
    topics: groupByTopic(partitions, ({ partition }) => ({ partition })),
  })
  return Promise.all(
    responses.flatMap(({ topic, partitions }) => partitions.map(each => withPosition(group, { topic, ...each }))),
  )
}

type FetchedOffset = TopicPartition & { readonly offset: string; readonly metadata: string | null }

async function withPosition(
  group: ConsumerGroup,
  { topic, partition, ...fetched }: FetchedOffset,
): Promise<OwnedPartition> {
  const offset = Number(fetched.offset)
  // -1 means that no offset is committed. -2 means the beginning of the log. Only kafkajs without
  // Hookline's patches commits -2.
  if (offset >= 0) {
    const committed = { offset, metadata: fetched.metadata ?? '' }
    return { topic, partition, next: offset, paused: false, isRevoking: false, committed }
  }
  const unread = { topic, partition, paused: false, isRevoking: false, committed: undefined }
  try {
    return { ...unread, next: await fetchOffset(group.cluster, { topic, partition }, 'beginning') }
  } catch (error) {
    if (!isBrokerUnavailable(error)) throw error
    return { ...unread, next: 0, isBeginningUnknown: true }
  }
}

const isSame = (a: TopicPartition) => (b: TopicPartition) => a.topic === b.topic && a.partition === b.partition
