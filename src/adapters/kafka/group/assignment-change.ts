import type { Clock, Logger, TopicPartition } from '../../../core/ports.ts'
import { durationMs } from '../../../core/time.ts'
import { errorCodeOf, isBrokerUnavailable, rejoinError } from '../kafkajs/errors.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import { refreshMetadataAfter } from '../log/kafkajs-cluster-without-group.ts'
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
 * Whether this member owned its partitions without interruption between the joins `last` and `now`.
 * It did if its member id is unchanged, and the generation is the same or the next one. The
 * coordinator may answer a rejoin with the same generation. If the generation is higher by two or
 * more, the member missed a generation in which another member may have owned the partitions.
 */
export function isContinuous(last: MemberGeneration | undefined, now: MemberGeneration): boolean {
  if (last === undefined || now.memberId === null || last.memberId !== now.memberId) return false
  return now.generation === last.generation || now.generation === last.generation + 1
}

/**
 * Joins the group. If kafkajs finds no coordinator for the group, for example during a restart of
 * the brokers, the join fails with an error that makes kafkajs stop the consumer. This function
 * replaces that error by one after which kafkajs joins again.
 */
export async function joinOrRetry(join: () => Promise<void>): Promise<void> {
  try {
    await join()
  } catch (error) {
    throw (error as Error).name === 'KafkaJSGroupCoordinatorNotFound' ? rejoinError() : error
  }
}

/**
 * The difference between the assignments before and after a join. If the member has missed a
 * generation, another member may have owned its partitions during that generation. So all its
 * previous partitions are in `lost`, and all assigned partitions are in `gained`.
 */
export interface AssignmentChange {
  readonly lost: readonly OwnedPartition[]
  readonly gained: readonly OwnedPartition[]
}

/**
 * Compares the owned partitions with the new assignment, and fetches the committed offsets of the
 * gained ones. It does not check that the log still has these offsets; the first fetch does.
 * @throws an error, for example when the coordinator does not respond, or when a gained partition
 * has no committed offset and is missing in this member's metadata
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
 * Calls `assignmentChange` with up to four retries. It does not retry when `isEnded` returns true,
 * because the member has then reached the state ENDED (`group-membership.ts`).
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
 * Looks up the position of each partition: the committed offset, or the beginning of the log if no
 * offset is committed. While a partition has no available leader, its beginning is unknown. Its
 * position is then 0 until a fetch finds the beginning (`isBeginningUnknown`). So the member does
 * not have to wait for this partition, and can use the others.
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
  // Kafka returns -1 when no offset is committed. A committed -2 counts as no offset too: kafkajs
  // without Hookline's patches commits -2 for the beginning of the log.
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
