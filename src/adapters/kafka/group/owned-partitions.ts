import type { Position, TopicPartition } from '../../../core/ports.ts'
import type { EpochMs } from '../../../core/time.ts'
import { partitionKey } from '../../../core/topic-partition-key.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'

/** The committed offset of a partition, with the metadata stored beside it. */
export interface Committed {
  readonly offset: number
  readonly metadata: string
}

/**
 * A partition that this member owns, from its assignment to its revocation. If the partition is
 * assigned again later, it gets a new object.
 */
export interface OwnedPartition extends TopicPartition {
  /** The consumer's position: the offset of the next record to deliver to the service. */
  next: number
  /**
   * The broker's timestamp of the last delivered record, even if Kafka has truncated the record
   * since; `undefined` before the first record.
   */
  lastTimestamp?: EpochMs | undefined
  paused: boolean
  /** Whether the broker failed to read the partition, which is then not fetched for one second. */
  isUnreadable?: boolean
  /** Monotonic milliseconds when Hookline last logged that the broker cannot read the partition. */
  unreadableLoggedAt?: number
  /**
   * Whether the partition is being revoked. It is no longer fetched, but this member owns it until
   * the revocation is complete.
   */
  isRevoking: boolean
  /** The last commit; `undefined` when there is none, or when the log was truncated after it. */
  committed: Committed | undefined
  /**
   * True when the group has committed no offset, and no leader could report the beginning of the
   * log. `next` is then 0 until a fetch finds the beginning. If the log begins later, the first
   * fetch is out of range, and the partition is assigned again at the beginning. No record is lost,
   * because the group has read none.
   *
   * Offset 0 is not committed before a fetch has found the beginning. Otherwise the next owner
   * would not look for it.
   */
  readonly isBeginningUnknown?: boolean
}

/** Whether the position is 0 because the beginning of the log is unknown. */
export const isBeforeBeginning = ({ isBeginningUnknown }: OwnedPartition, position: number): boolean =>
  isBeginningUnknown === true && position === 0

/** The partitions that this member owns. */
export class OwnedPartitions {
  readonly #byKey = new Map<string, OwnedPartition>()

  get(partition: TopicPartition): OwnedPartition | undefined {
    return this.#byKey.get(partitionKey(partition))
  }

  add(owned: OwnedPartition): void {
    this.#byKey.set(partitionKey(owned), owned)
  }

  delete(partition: TopicPartition): void {
    this.#byKey.delete(partitionKey(partition))
  }

  /**
   * Whether the next fetch includes all owned partitions, because none is paused, unreadable or
   * being revoked. If so, brokers may hold the fetch for longer (`GroupMembership.maxWait`).
   */
  get areAllFetched(): boolean {
    return this.all().every(({ paused, isUnreadable = false, isRevoking }) => !paused && !isUnreadable && !isRevoking)
  }

  all(): readonly OwnedPartition[] {
    return [...this.#byKey.values()]
  }
}

export const toTopicPartition = ({ topic, partition }: TopicPartition): TopicPartition => ({ topic, partition })

/** Converts an assigned partition to the position that `onAssigned` passes to the service. */
export const toPosition = ({ topic, partition, next, committed }: OwnedPartition): Position => ({
  topic,
  partition,
  offset: next,
  metadata: committed?.metadata ?? '',
  ...(committed === undefined && next > 0 && { isUncommitted: true }),
})

/** Sets the positions and the paused partitions in kafkajs. */
export function seekAndPause(group: ConsumerGroup, all: readonly OwnedPartition[]): void {
  group.resume(groupByTopic(all, ({ partition }) => partition))
  for (const owned of all) {
    if (owned.paused || owned.isUnreadable === true)
      group.pause([{ topic: owned.topic, partitions: [owned.partition] }])
    group.seek({ ...toTopicPartition(owned), offset: String(owned.next) })
  }
}

/**
 * Makes kafkajs treat the positions as committed offsets. Otherwise kafkajs requests the offsets
 * before the next fetch: from the coordinator and then, for partitions without a committed offset,
 * from their leaders. If one of these partitions has no leader, the whole fetch would fail. Call
 * this function after each join, because a join makes kafkajs forget the committed offsets.
 */
export function markPositionsKnown({ cluster, groupId }: ConsumerGroup, all: readonly OwnedPartition[]): void {
  for (const { topic, partition, next } of all)
    cluster.markOffsetAsCommitted({ groupId, topic, partition, offset: String(next) })
}

/** Groups partitions by topic, as kafkajs's methods expect them. */
export function groupByTopic<Item extends TopicPartition, Partition>(
  items: readonly Item[],
  of: (item: Item) => Partition,
): readonly { readonly topic: string; readonly partitions: readonly Partition[] }[] {
  const grouped = Map.groupBy(items, ({ topic }) => topic)
  return [...grouped].map(([topic, partitions]) => ({ topic, partitions: partitions.map(of) }))
}
