import type { Position, TopicPartition } from '../../../core/ports.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'

/** What the group has committed for a partition. */
export interface Committed {
  readonly offset: number
  readonly metadata: string
}

/** A partition from its assignment to its revocation. A new assignment makes a new object. */
export interface OwnedPartition extends TopicPartition {
  /**
   * The offset of the next record to deliver. Records of a fetch below it were delivered already; a
   * fetch that begins above it left some out.
   */
  next: number
  paused: boolean
  /** Waits for its revocation: it is not fetched, and it belongs to this member until the end. */
  isRevoking: boolean
  /** Undefined: nothing, or nothing that is still valid. */
  committed: Committed | undefined
}

/** The partitions that this member owns. */
export class OwnedPartitions {
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

  /** Whether the next fetch asks for all of them. */
  get areAllFetched(): boolean {
    return this.all().every(({ paused, isRevoking }) => !paused && !isRevoking)
  }

  all(): readonly OwnedPartition[] {
    return [...this.#byKey.values()]
  }
}

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`

export const partitionOf = ({ topic, partition }: TopicPartition): TopicPartition => ({ topic, partition })

/** The position at which its assignment begins. */
export const positionOf = ({ topic, partition, next, committed }: OwnedPartition): Position => ({
  topic,
  partition,
  offset: next,
  metadata: committed?.metadata ?? '',
})

/** Tells kafkajs the offset to fetch each partition from, and which partitions are paused. */
export function seekAndPause(group: ConsumerGroup, all: readonly OwnedPartition[]): void {
  group.resume(byTopic(all, ({ partition }) => partition))
  for (const owned of all) {
    if (owned.paused) group.pause([{ topic: owned.topic, partitions: [owned.partition] }])
    group.seek({ ...partitionOf(owned), offset: String(owned.next) })
  }
}

/** Groups partitions by topic, the form that kafkajs takes them in. */
export function byTopic<Item extends TopicPartition, Partition>(
  items: readonly Item[],
  of: (item: Item) => Partition,
): readonly { readonly topic: string; readonly partitions: readonly Partition[] }[] {
  const grouped = Map.groupBy(items, ({ topic }) => topic)
  return [...grouped].map(([topic, partitions]) => ({ topic, partitions: partitions.map(of) }))
}
