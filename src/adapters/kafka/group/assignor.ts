import type { Assigner, Cluster as KafkajsCluster, PartitionAssigner } from 'kafkajs'
import type { TopicPartition } from '../../../core/ports.ts'
import { loadKafkajs } from '../kafkajs/kafkajs.ts'
import type { Cluster } from '../kafkajs/private-api.ts'
import { assignPartitions, type Subscriber } from './assign-partitions.ts'
import { byTopic } from './owned-partitions.ts'

/** What a member sends with its subscription when it joins, as KIP-429's owned partitions. */
export interface SubscriptionUserData {
  /** The group's generation in the member's last join; -1: the member owns nothing. */
  readonly generation: number
  readonly owned: readonly TopicPartition[]
}

export interface MemberState {
  /** Called once for each JoinGroup request. */
  subscriptionUserData(): SubscriptionUserData
  /** The generation of the join in progress. */
  generation(): number
}

/** All members of a group must offer the same name. */
const name = 'hookline-cooperative'
/**
 * Version of Kafka's encoding of subscriptions and assignments, which brokers and tools read too.
 */
const version = 0
const unreadable = { topics: [], userData: null }

/**
 * Cooperative rebalancing, as in KIP-429, on top of kafkajs's eager join protocol. Owned partitions
 * travel in the user data of the member's subscription, excess partitions in the user data of its
 * assignment. `assignPartitions` decides which member gets what.
 */
export function cooperativeAssignor(memberState: MemberState): (config: Parameters<PartitionAssigner>[0]) => Assigner {
  const { MemberAssignment, MemberMetadata } = loadKafkajs().AssignerProtocol
  /** An unreadable subscription counts as empty: it must not keep the other members from theirs. */
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

/** The partitions that an assignment asks its member to revoke. */
export function excessPartitionsIn(assignment: Buffer | undefined): readonly TopicPartition[] {
  if (assignment === undefined) return []
  const decoded = loadKafkajs().AssignerProtocol.MemberAssignment.decode(assignment)
  return decoded === null ? [] : partitionsIn(parse(decoded.userData))
}

/**
 * The owned partitions that a member may keep. They are valid only in the join after the generation
 * that they name: otherwise another member may have owned them in between.
 */
function ownedIn(userData: Buffer | null, generation: number): readonly TopicPartition[] {
  const data = parse(userData)
  return data?.['generation'] === generation - 1 ? partitionsIn(data['owned']) : []
}

/**
 * All partitions of all subscribed topics. During a deployment new members may subscribe to topics
 * that the leader does not know.
 */
async function partitionsOf(
  subscribers: readonly Subscriber[],
  of: KafkajsCluster,
): Promise<readonly TopicPartition[]> {
  const cluster = of as unknown as Cluster
  const topics = [...new Set(subscribers.flatMap(subscriber => subscriber.topics))]
  // A missing topic is assigned to no member; its subscribers get the error by themselves.
  for (const topic of topics) await cluster.addTargetTopic(topic).catch(() => undefined)
  return topics.flatMap(topic =>
    cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ topic, partition: partitionId })),
  )
}

type Json = Readonly<Record<string, unknown>>

const encodeOwned = ({ generation, owned }: SubscriptionUserData): Buffer =>
  Buffer.from(JSON.stringify({ generation, owned: numbersByTopic(owned) }))

const encode = (partitions: readonly TopicPartition[]): Buffer =>
  Buffer.from(JSON.stringify(numbersByTopic(partitions)))

function numbersByTopic(partitions: readonly TopicPartition[]): Record<string, number[]> {
  const topics = byTopic(partitions, ({ partition }) => partition)
  return Object.fromEntries(topics.map(({ topic, partitions: numbers }) => [topic, [...numbers]]))
}

/** Undefined for anything but a JSON object. */
function parse(userData: Buffer | null): Json | undefined {
  try {
    const value: unknown = JSON.parse(userData?.toString() ?? '')
    return typeof value === 'object' && value !== null ? (value as Json) : undefined
  } catch {
    return undefined
  }
}

function partitionsIn(grouped: unknown): readonly TopicPartition[] {
  if (typeof grouped !== 'object' || grouped === null) return []
  return Object.entries(grouped).flatMap(([topic, partitions]) =>
    Array.isArray(partitions)
      ? partitions.filter(Number.isSafeInteger).map(partition => ({ topic, partition: partition as number }))
      : [],
  )
}
