import type { Assigner, Cluster as KafkajsCluster, PartitionAssigner } from 'kafkajs'
import type { TopicPartition } from '../../core/ports.ts'
import type { Cluster } from './internals.ts'
import { loadKafkajs } from './library.ts'
import { byTopic } from './partitions.ts'
import { type Claimant, shareOut } from './shares.ts'

/** What a member says it has when it joins. */
export interface Claim {
  /** Of the group when it last took part in a join; -1: it has nothing. */
  readonly generation: number
  readonly owned: readonly TopicPartition[]
}

export interface Seat {
  /** Asked once per JoinGroup. */
  claim(): Claim
  /** Of the join that is under way. */
  generation(): number
}

/** All members of a group must offer the same. */
const name = 'hookline-cooperative'
/** Of Kafka's encoding of subscriptions and assignments, which brokers and tools read too. */
const version = 0
const unreadable = { topics: [], userData: null }

/**
 * Cooperative rebalancing (as in KIP-429) on kafkajs's way of joining: claims travel in the user data of the member's metadata, what is to
 * be given up in that of its assignment. `shareOut` says who gets what.
 */
export function cooperativeAssigner(seat: Seat): (config: Parameters<PartitionAssigner>[0]) => Assigner {
  const { MemberAssignment, MemberMetadata } = loadKafkajs().AssignerProtocol
  /** What cannot be read subscribes to nothing: it must not keep the others from being given what is theirs. */
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
      metadata: MemberMetadata.encode({ version, topics, userData: encodeClaim(seat.claim()) }),
    }),
    assign: async ({ members }) => {
      const claimants = members.map(({ memberId, memberMetadata }) => {
        const { topics, userData } = read(memberMetadata)
        return { memberId, topics, owned: ownedBy(userData, seat.generation()) }
      })
      const shares = shareOut(claimants, await partitionsOf(claimants, cluster))
      return shares.map(({ memberId, partitions, surplus }) => ({
        memberId,
        memberAssignment: MemberAssignment.encode({
          version,
          assignment: numbersByTopic(partitions),
          userData: encode(surplus),
        }),
      }))
    },
  })
}

/** What an assignment, as it came from the group's leader, asks its member to give up. */
export function surplusIn(assignment: Buffer | undefined): readonly TopicPartition[] {
  if (assignment === undefined) return []
  const decoded = loadKafkajs().AssignerProtocol.MemberAssignment.decode(assignment)
  return decoded === null ? [] : partitionsIn(parse(decoded.userData))
}

/** A claim holds for the join right after the one it names: else others may have had the partitions in between. */
function ownedBy(userData: Buffer | null, generation: number): readonly TopicPartition[] {
  const claim = parse(userData)
  return claim?.['generation'] === generation - 1 ? partitionsIn(claim['owned']) : []
}

/** Of every topic that anybody subscribes to: during a deployment new members may know more topics than the leader. */
async function partitionsOf(claimants: readonly Claimant[], of: KafkajsCluster): Promise<readonly TopicPartition[]> {
  const cluster = of as unknown as Cluster
  const topics = [...new Set(claimants.flatMap(claimant => claimant.topics))]
  // A topic that is gone is nobody's until it is there again; who subscribes to it hears of that by itself.
  for (const topic of topics) await cluster.addTargetTopic(topic).catch(() => undefined)
  return topics.flatMap(topic =>
    cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ topic, partition: partitionId })),
  )
}

type Json = Readonly<Record<string, unknown>>

const encodeClaim = ({ generation, owned }: Claim): Buffer =>
  Buffer.from(JSON.stringify({ generation, owned: numbersByTopic(owned) }))

const encode = (partitions: readonly TopicPartition[]): Buffer =>
  Buffer.from(JSON.stringify(numbersByTopic(partitions)))

function numbersByTopic(partitions: readonly TopicPartition[]): Record<string, number[]> {
  const topics = byTopic(partitions, ({ partition }) => partition)
  return Object.fromEntries(topics.map(({ topic, partitions: numbers }) => [topic, [...numbers]]))
}

/** Undefined for what is no object of ours. */
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
