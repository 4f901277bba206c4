import type { Assigner, Cluster as KafkajsCluster, PartitionAssigner } from 'kafkajs'
import { type JsonObject, objectIn } from '../../../core/message/json.ts'
import type { TopicPartition } from '../../../core/ports.ts'
import { loadKafkajs } from '../kafkajs/load-kafkajs.ts'
import type { Cluster } from '../kafkajs/private-api.ts'
import { assignPartitions, type Subscriber } from './assign-partitions.ts'
import { groupByTopic } from './owned-partitions.ts'

/** The user data that a member sends with its subscription: its owned partitions (KIP-429). */
export interface SubscriptionUserData {
  /** The generation of the last join; -1 for a new member or after a missed generation. */
  readonly generation: number
  readonly owned: readonly TopicPartition[]
}

export interface MemberState {
  /** Returns the user data of the next JoinGroup request. */
  subscriptionUserData(): SubscriptionUserData
  /** The generation of the rebalance in progress. */
  generation(): number
}

/** The protocol name in JoinGroup. All members of a group must have the same one. */
const name = 'hookline-cooperative'
/** Version of the format of subscriptions and assignments. Kafka's tools can read this format. */
const version = 0
const unreadable = { topics: [], userData: null }

/**
 * Creates an assignor for cooperative rebalancing (KIP-429), which kafkajs lacks. The user data of
 * subscriptions lists the owned partitions, and that of assignments the partitions to revoke.
 */
export function cooperativeAssignor(memberState: MemberState): (config: Parameters<PartitionAssigner>[0]) => Assigner {
  const { MemberAssignment, MemberMetadata } = loadKafkajs().AssignerProtocol
  /**
   * Decodes a subscription. An unreadable one counts as empty, so that the rebalance does not fail.
   */
  const read = (metadata: Buffer): { topics: readonly string[]; userData: Buffer | null } => {
    try {
      return MemberMetadata.decode(metadata) ?? unreadable
    } catch {
      return unreadable
    }
  }
  return ({ cluster }) => ({
    name,
    version,
    protocol: ({ topics }) => ({
      name,
      metadata: MemberMetadata.encode({ version, topics, userData: encodeOwned(memberState.subscriptionUserData()) }),
    }),
    assign: async ({ members }) => {
      const subscribers = members.map(({ memberId, memberMetadata }) => {
        const { topics, userData } = read(memberMetadata)
        return { memberId, topics, owned: ownedIn(userData, memberState.generation()) }
      })
      const assignments = assignPartitions(subscribers, await partitionsOf(subscribers, cluster))
      return assignments.map(({ memberId, partitions, excess }) => ({
        memberId,
        memberAssignment: MemberAssignment.encode({
          version,
          assignment: numbersByTopic(partitions),
          userData: encode(excess),
        }),
      }))
    },
  })
}

/** The partitions that the member with this assignment must revoke. */
export function excessPartitionsIn(assignment: Buffer | undefined): readonly TopicPartition[] {
  if (assignment === undefined) return []
  const decoded = loadKafkajs().AssignerProtocol.MemberAssignment.decode(assignment)
  return decoded === null ? [] : partitionsIn(parse(decoded.userData))
}

/**
 * The owned partitions that a member may keep. If its user data is not of the previous generation,
 * it keeps none, because another member may have owned the partitions since.
 */
function ownedIn(userData: Buffer | null, generation: number): readonly TopicPartition[] {
  const data = parse(userData)
  return data?.['generation'] === generation - 1 ? partitionsIn(data['owned']) : []
}

/**
 * All partitions of all topics to which any member subscribes. During a rolling upgrade, members
 * may subscribe to topics that the group leader does not use.
 */
async function partitionsOf(
  subscribers: readonly Subscriber[],
  of: KafkajsCluster,
): Promise<readonly TopicPartition[]> {
  const cluster = of as unknown as Cluster
  const topics = [...new Set(subscribers.flatMap(subscriber => subscriber.topics))]
  // A topic that does not exist gets no partitions.
  for (const topic of topics) await cluster.addTargetTopic(topic).catch(() => undefined)
  return topics.flatMap(topic =>
    cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ topic, partition: partitionId })),
  )
}

const encodeOwned = ({ generation, owned }: SubscriptionUserData): Buffer =>
  Buffer.from(JSON.stringify({ generation, owned: numbersByTopic(owned) }))

const encode = (partitions: readonly TopicPartition[]): Buffer =>
  Buffer.from(JSON.stringify(numbersByTopic(partitions)))

function numbersByTopic(partitions: readonly TopicPartition[]): Record<string, number[]> {
  const topics = groupByTopic(partitions, ({ partition }) => partition)
  return Object.fromEntries(topics.map(({ topic, partitions: numbers }) => [topic, [...numbers]]))
}

const parse = (userData: Buffer | null): JsonObject | undefined => objectIn(userData?.toString() ?? '')

function partitionsIn(grouped: unknown): readonly TopicPartition[] {
  if (typeof grouped !== 'object' || grouped === null) return []
  return Object.entries(grouped).flatMap(([topic, partitions]) =>
    Array.isArray(partitions)
      ? partitions.filter(Number.isSafeInteger).map(partition => ({ topic, partition: partition as number }))
      : [],
  )
}
