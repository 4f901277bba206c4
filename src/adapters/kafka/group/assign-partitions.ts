import type { TopicPartition } from '../../../core/ports.ts'
import { partitionKey } from '../../../core/topic-partition-key.ts'

/** A member of the group, as in the JoinGroup response to the group leader. */
export interface Subscriber {
  readonly memberId: string
  readonly topics: readonly string[]
  /** The partitions that the member owned before the rebalance and may keep. */
  readonly owned: readonly TopicPartition[]
}

export interface SubscriberAssignment {
  readonly memberId: string
  /** All partitions that the member owns after the rebalance, including those in `excess`. */
  readonly partitions: readonly TopicPartition[]
  /** The partitions that the member must revoke, so that a second rebalance can move them. */
  readonly excess: readonly TopicPartition[]
}

/**
 * Assigns each partition to a subscriber of its topic, sticky and cooperative as in KIP-429:
 * - A member keeps the partitions that it owns.
 * - A partition without an owner goes to the subscriber with the fewest partitions.
 * - A partition that must move is listed in `excess`. Its owner revokes it, and the next rebalance
 *   assigns it to another member.
 */
export function assignPartitions(
  subscribers: readonly Subscriber[],
  all: readonly TopicPartition[],
): readonly SubscriberAssignment[] {
  const members = [...subscribers]
    .sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
    .map(subscriber => new MemberTally(subscriber))
  const ownerOf = owners(members)
  const partitions = [...all].sort(inOrder)
  const free = partitions.filter(partition => !ownerOf.has(partitionKey(partition)))
  for (const partition of partitions) ownerOf.get(partitionKey(partition))?.keep(partition)
  // Partitions with few possible owners are assigned first. The other partitions can still balance
  // the counts of the members afterwards.
  const choices = ({ topic }: TopicPartition): number => members.filter(({ topics }) => topics.has(topic)).length
  for (const partition of free.toSorted((a, b) => choices(a) - choices(b)))
    smallestOf(members, partition)?.assign(partition)
  for (;;) {
    const move = nextMove(members)
    if (move === undefined) break
    move.from.markExcess(move.partition)
    move.to.count(move.partition)
  }
  return members.map(member => member.assignment)
}

class MemberTally {
  readonly memberId: string
  readonly topics: ReadonlySet<string>
  readonly owned: readonly TopicPartition[]
  readonly #partitions: TopicPartition[] = []
  readonly #excess = new Set<TopicPartition>()
  readonly movable = new Set<TopicPartition>()
  readonly #totalOfTopic = new Map<string, number>()
  /** The number of partitions after all excess partitions have moved. */
  total = 0

  constructor({ memberId, topics, owned }: Subscriber) {
    this.memberId = memberId
    this.topics = new Set(topics)
    this.owned = owned
  }

  get assignment(): SubscriberAssignment {
    const partitions = this.#partitions.toSorted(inOrder)
    return { memberId: this.memberId, partitions, excess: partitions.filter(each => this.#excess.has(each)) }
  }

  totalOf(topic: string): number {
    return this.#totalOfTopic.get(topic) ?? 0
  }

  keep(partition: TopicPartition): void {
    this.assign(partition)
    this.movable.add(partition)
  }

  assign(partition: TopicPartition): void {
    this.#partitions.push(partition)
    this.count(partition)
  }

  count({ topic }: TopicPartition): void {
    this.total++
    this.#totalOfTopic.set(topic, this.totalOf(topic) + 1)
  }

  markExcess(partition: TopicPartition): void {
    this.#excess.add(partition)
    this.movable.delete(partition)
    this.total--
    this.#totalOfTopic.set(partition.topic, this.totalOf(partition.topic) - 1)
  }
}

/**
 * Returns the owner of each partition. A partition that two members claim has no owner: one of them
 * missed a rebalance, and it is unknown which one did.
 */
function owners(members: readonly MemberTally[]): Map<string, MemberTally> {
  const ownerOf = new Map<string, MemberTally>()
  const contested = new Set<string>()
  for (const member of members)
    for (const partition of member.owned) {
      const key = partitionKey(partition)
      if (!member.topics.has(partition.topic)) continue
      if (ownerOf.has(key) && ownerOf.get(key) !== member) contested.add(key)
      ownerOf.set(key, member)
    }
  for (const key of contested) ownerOf.delete(key)
  return ownerOf
}

/**
 * Returns the subscriber with the fewest partitions. Among equals, it is the one with the fewest
 * partitions of this topic, then the first by member id.
 */
function smallestOf(members: readonly MemberTally[], { topic }: TopicPartition): MemberTally | undefined {
  let smallest: MemberTally | undefined
  for (const member of members) {
    if (!member.topics.has(topic)) continue
    const isSmaller =
      smallest === undefined ||
      member.total < smallest.total ||
      (member.total === smallest.total && member.totalOf(topic) < smallest.totalOf(topic))
    if (isSmaller) smallest = member
  }
  return smallest
}

interface Move {
  readonly partition: TopicPartition
  readonly from: MemberTally
  readonly to: MemberTally
}

/**
 * Chooses the next move of one partition; `undefined` when the members are balanced.
 * - Of the members that can give a partition, the giver has the most partitions.
 * - The receiver is the subscriber with the fewest, at least two fewer than the giver.
 * - The partition is of the topic in which the counts of giver and receiver differ most.
 */
function nextMove(members: readonly MemberTally[]): Move | undefined {
  for (const from of [...members].sort((a, b) => b.total - a.total)) {
    let best: Move | undefined
    for (const partition of from.movable) {
      const to = smallestOf(members, partition)
      if (to === undefined || from.total - to.total < 2) continue
      if (best === undefined || gain({ partition, from, to }) >= gain(best)) best = { partition, from, to }
    }
    if (best !== undefined) return best
  }
  return undefined
}

const gain = ({ partition: { topic }, from, to }: Move): number => from.totalOf(topic) - to.totalOf(topic)

const inOrder = (a: TopicPartition, b: TopicPartition): number =>
  a.partition - b.partition || (a.topic < b.topic ? -1 : 1)
