import type { Position, TopicPartition } from '../../core/ports.ts'
import type { ConsumerGroup } from './internals.ts'

/** What the group has committed of a partition. */
export interface Committed {
  readonly offset: number
  readonly metadata: string
}

/** A partition from its assignment to its revocation; a new assignment makes a new one. */
export interface OwnedPartition extends TopicPartition {
  /** The offset that is handed over next. What a fetch brings below it was handed over already, what begins above it left some out. */
  next: number
  paused: boolean
  /** To be given up: it is not fetched any more, and goes to nobody before it is given up. */
  isLeaving: boolean
  /** Undefined: nothing, or nothing that holds. */
  committed: Committed | undefined
}

/** The partitions that are ours. */
export class Partitions {
  readonly #byKey = new Map<string, OwnedPartition>()

  get({ topic, partition }: TopicPartition): OwnedPartition | undefined {
    return this.#byKey.get(keyOf(topic, partition))
  }

  add(owned: OwnedPartition): void {
    this.#byKey.set(keyOf(owned.topic, owned.partition), owned)
  }

  delete({ topic, partition }: TopicPartition): void {
    this.#byKey.delete(keyOf(topic, partition))
  }

  /** Whether the next fetch is of all of them. */
  get areAllFetched(): boolean {
    return this.all().every(({ paused, isLeaving }) => !paused && !isLeaving)
  }

  all(): readonly OwnedPartition[] {
    return [...this.#byKey.values()]
  }
}

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`

export const partitionOf = ({ topic, partition }: TopicPartition): TopicPartition => ({ topic, partition })

/** Where its assignment begins. */
export const positionOf = ({ topic, partition, next, committed }: OwnedPartition): Position => ({
  topic,
  partition,
  offset: next,
  metadata: committed?.metadata ?? '',
})

/** Tells kafkajs from where to fetch each of them, and which not at present. */
export function showPositions(group: ConsumerGroup, all: readonly OwnedPartition[]): void {
  group.resume(byTopic(all, ({ partition }) => partition))
  for (const owned of all) {
    if (owned.paused) group.pause([{ topic: owned.topic, partitions: [owned.partition] }])
    group.seek({ ...partitionOf(owned), offset: String(owned.next) })
  }
}

/** As kafkajs wants them: the partitions of each topic together. */
export function byTopic<Item extends TopicPartition, Partition>(
  items: readonly Item[],
  of: (item: Item) => Partition,
): readonly { readonly topic: string; readonly partitions: readonly Partition[] }[] {
  const grouped = Map.groupBy(items, ({ topic }) => topic)
  return [...grouped].map(([topic, partitions]) => ({ topic, partitions: partitions.map(of) }))
}
