import type { TopicPartition } from '../../../core/ports.ts'

/** What the leader of a group knows about a member. */
export interface Subscriber {
  readonly memberId: string
  readonly topics: readonly string[]
  /** The partitions that it owns and may keep. */
  readonly owned: readonly TopicPartition[]
}

/** What a member owns after the join, and which of these it must revoke for other members. */
export interface SubscriberAssignment {
  readonly memberId: string
  readonly partitions: readonly TopicPartition[]
  readonly excess: readonly TopicPartition[]
}

/**
 * Assigns the partitions to the members that subscribe to their topics. Members keep what they own;
 * free partitions go to the member with the fewest; excess partitions are only named, and assigned
 * after their owner has revoked them. In the end all members have the same number or one more, over
 * all topics and, as far as that allows, in each topic. A pure function that ignores the order of
 * its input.
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
  const free = partitions.filter(partition => !ownerOf.has(keyOf(partition)))
  for (const partition of partitions) ownerOf.get(keyOf(partition))?.keep(partition)
  // Partitions with the fewest possible owners come first: the others even out the difference.
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

/** The assignment of one member while it is worked out. */
class MemberTally {
  readonly memberId: string
  readonly topics: ReadonlySet<string>
  readonly owned: readonly TopicPartition[]
  readonly #partitions: TopicPartition[] = []
  readonly #excess = new Set<TopicPartition>()
  /** Owned partitions that are not marked as excess. */
  readonly movable = new Set<TopicPartition>()
  readonly #totalOfTopic = new Map<string, number>()
  /** How many partitions it has once all excess partitions have moved. */
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

/** A partition that two members claim has no owner: neither claim can be trusted. */
function owners(members: readonly MemberTally[]): Map<string, MemberTally> {
  const ownerOf = new Map<string, MemberTally>()
  const contested = new Set<string>()
  for (const member of members)
    for (const partition of member.owned) {
      const key = keyOf(partition)
      if (!member.topics.has(partition.topic)) continue
      if (ownerOf.has(key) && ownerOf.get(key) !== member) contested.add(key)
      ownerOf.set(key, member)
    }
  for (const key of contested) ownerOf.delete(key)
  return ownerOf
}

/**
 * The subscriber with the fewest partitions: over all topics, then of this topic, then the first.
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
 * The next move from the largest member to the smallest, when they differ by two or more. It takes
 * a partition of the topic in which the two differ most.
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

const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`
