import type { TopicPartition } from '../../core/ports.ts'

/** What the leader of a group knows of a member. */
export interface Claimant {
  readonly memberId: string
  readonly topics: readonly string[]
  /** What it has and may keep; nothing of what it cannot vouch for. */
  readonly owned: readonly TopicPartition[]
}

/** What a member has from now on, and what of that it is to give up, in its own time, for whoever has too little. */
export interface Share {
  readonly memberId: string
  readonly partitions: readonly TopicPartition[]
  readonly surplus: readonly TopicPartition[]
}

/**
 * Shares the partitions out among the members that subscribe to their topics. Nobody is taken anything: who has a partition keeps it, what
 * nobody has goes to whoever has least, and what some have too much is only named; it is shared out after they have given it up. So all end
 * up with the same number or one more, all topics together and, as far as that allows, in each topic. Depends on nothing but what is given,
 * in any order.
 */
export function shareOut(claimants: readonly Claimant[], all: readonly TopicPartition[]): readonly Share[] {
  const members = [...claimants].sort((a, b) => (a.memberId < b.memberId ? -1 : 1)).map(member => new Member(member))
  const ownerOf = owners(members)
  const partitions = [...all].sort(inOrder)
  const free = partitions.filter(partition => !ownerOf.has(keyOf(partition)))
  for (const partition of partitions) ownerOf.get(keyOf(partition))?.keep(partition)
  // What fewer may have comes first: the rest makes up for it.
  const choices = ({ topic }: TopicPartition): number => members.filter(({ topics }) => topics.has(topic)).length
  for (const partition of free.toSorted((a, b) => choices(a) - choices(b))) leastOf(members, partition)?.get(partition)
  for (;;) {
    const move = nextMove(members)
    if (move === undefined) break
    move.from.release(move.partition)
    move.to.expect(move.partition)
  }
  return members.map(member => member.share)
}

class Member {
  readonly memberId: string
  readonly topics: ReadonlySet<string>
  readonly owned: readonly TopicPartition[]
  readonly #partitions: TopicPartition[] = []
  readonly #surplus = new Set<TopicPartition>()
  /** Kept and not named as surplus. */
  readonly movable = new Set<TopicPartition>()
  readonly #inTopic = new Map<string, number>()
  /** How many it has when all that is named has moved. */
  count = 0

  constructor({ memberId, topics, owned }: Claimant) {
    this.memberId = memberId
    this.topics = new Set(topics)
    this.owned = owned
  }

  get share(): Share {
    const partitions = this.#partitions.toSorted(inOrder)
    return { memberId: this.memberId, partitions, surplus: partitions.filter(each => this.#surplus.has(each)) }
  }

  countOf(topic: string): number {
    return this.#inTopic.get(topic) ?? 0
  }

  keep(partition: TopicPartition): void {
    this.get(partition)
    this.movable.add(partition)
  }

  get(partition: TopicPartition): void {
    this.#partitions.push(partition)
    this.expect(partition)
  }

  expect({ topic }: TopicPartition): void {
    this.count++
    this.#inTopic.set(topic, this.countOf(topic) + 1)
  }

  release(partition: TopicPartition): void {
    this.#surplus.add(partition)
    this.movable.delete(partition)
    this.count--
    this.#inTopic.set(partition.topic, this.countOf(partition.topic) - 1)
  }
}

/** What two claim, neither can vouch for: it is nobody's. */
function owners(members: readonly Member[]): Map<string, Member> {
  const ownerOf = new Map<string, Member>()
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

/** Of those who may have it, who has least: in all, then of its topic, then the first. */
function leastOf(members: readonly Member[], { topic }: TopicPartition): Member | undefined {
  let least: Member | undefined
  for (const member of members) {
    if (!member.topics.has(topic)) continue
    const isLess =
      least === undefined ||
      member.count < least.count ||
      (member.count === least.count && member.countOf(topic) < least.countOf(topic))
    if (isLess) least = member
  }
  return least
}

interface Move {
  readonly partition: TopicPartition
  readonly from: Member
  readonly to: Member
}

/** From whoever has most to whoever has least, two less at least; of the topic in which the two differ most. */
function nextMove(members: readonly Member[]): Move | undefined {
  for (const from of [...members].sort((a, b) => b.count - a.count)) {
    let best: Move | undefined
    for (const partition of from.movable) {
      const to = leastOf(members, partition)
      if (to === undefined || from.count - to.count < 2) continue
      if (best === undefined || gain({ partition, from, to }) >= gain(best)) best = { partition, from, to }
    }
    if (best !== undefined) return best
  }
  return undefined
}

const gain = ({ partition: { topic }, from, to }: Move): number => from.countOf(topic) - to.countOf(topic)

const inOrder = (a: TopicPartition, b: TopicPartition): number =>
  a.partition - b.partition || (a.topic < b.topic ? -1 : 1)

const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`
