import type { TopicPartition } from '../../core/ports.ts'
import type { ConsumerGroup } from './internals.ts'
import { byTopic, type OwnedPartition } from './partitions.ts'

/** Who we were in the group when its last join was complete. */
export interface Membership {
  readonly memberId: string | null
  readonly generation: number
}

export const membershipOf = ({ memberId, generationId }: ConsumerGroup): Membership => ({
  memberId,
  generation: generationId,
})

/**
 * Whether nobody else can have owned our partitions since: the same member, in the same generation or the next one. A follower that rejoins
 * is given the same generation again. Any other jump hides a generation in which somebody else may have had them.
 */
export function isKept(last: Membership | undefined, now: Membership): boolean {
  if (last === undefined || now.memberId === null || last.memberId !== now.memberId) return false
  return now.generation === last.generation || now.generation === last.generation + 1
}

/** What a join changed. */
export interface AssignmentChange {
  readonly lost: readonly OwnedPartition[]
  readonly gained: readonly OwnedPartition[]
}

/**
 * Compares what was ours with what the group has just assigned, and asks the coordinator how far the group was in what is new. Whether a
 * committed offset still exists in the log, its first fetch tells.
 * @throws what kafkajs throws when the coordinator or the leader of a partition without committed offset cannot be asked.
 */
export async function assignmentChange(
  group: ConsumerGroup,
  owned: readonly OwnedPartition[],
  last: Membership | undefined,
): Promise<AssignmentChange> {
  const assigned = group
    .assigned()
    .flatMap(({ topic, partitions }) => partitions.map(partition => ({ topic, partition })))
  if (!isKept(last, membershipOf(group))) return { lost: owned, gained: await startOf(group, assigned) }
  return {
    lost: owned.filter(each => !assigned.some(isSame(each))),
    gained: await startOf(
      group,
      assigned.filter(each => !owned.some(isSame(each))),
    ),
  }
}

/** From the committed offset on; where there is none, from the beginning of the log. */
async function startOf(group: ConsumerGroup, partitions: readonly TopicPartition[]): Promise<OwnedPartition[]> {
  if (partitions.length === 0) return []
  const { responses } = await group.coordinator.offsetFetch({
    groupId: group.groupId,
    topics: byTopic(partitions, ({ partition }) => ({ partition })),
  })
  return Promise.all(
    responses.flatMap(({ topic, partitions }) => partitions.map(answer => startOfOne(group, { topic, ...answer }))),
  )
}

type Answer = TopicPartition & { readonly offset: string; readonly metadata: string | null }

async function startOfOne(group: ConsumerGroup, { topic, partition, ...answer }: Answer): Promise<OwnedPartition> {
  const offset = Number(answer.offset)
  // -1: none. Other negative ones are what a kafkajs of somebody else left behind; no position either.
  if (offset >= 0) {
    const committed = { offset, metadata: answer.metadata ?? '' }
    return { topic, partition, next: offset, paused: false, isLeaving: false, committed }
  }
  const next = await offsetOf(group, { topic, partition }, 'beginning')
  return { topic, partition, next, paused: false, isLeaving: false, committed: undefined }
}

/** Where the log of a partition begins or ends now. @throws when its leader is not known or does not answer. */
export async function offsetOf(
  { cluster }: Pick<ConsumerGroup, 'cluster'>,
  { topic, partition }: TopicPartition,
  side: 'beginning' | 'end',
): Promise<number> {
  const fromBeginning = side === 'beginning'
  const [answer] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning }])
  const offset = answer?.partitions[0]?.offset
  if (offset === undefined) throw new Error(`no leader is known for ${topic}/${partition}`)
  return Number(offset)
}

/** A part of the log that cannot be read: deleted before it was, or cut off. */
export interface LostPosition extends TopicPartition {
  readonly from: number
  /** Above `from`: the records between are gone. Below: the log now ends here, and what it had up to `from` and beyond is not known. */
  readonly to: number
}

/** Where to go on when the log has nothing at a position (any more): within the log, as near as can be. */
export function nearest(position: number, beginning: number, end: number): number {
  return Math.min(Math.max(position, beginning), end)
}

const isSame = (a: TopicPartition) => (b: TopicPartition) => a.topic === b.topic && a.partition === b.partition
