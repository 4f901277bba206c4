import type { Position, TopicPartition } from '../../../core/ports.ts'
import type { EpochMs } from '../../../core/time.ts'
import { partitionKey } from '../../../core/topic-partition-key.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'

export interface Committed {
  readonly offset: number
  readonly metadata: string
}

/** A partition that this member owns. If it is assigned again later, it gets a new object. */
export interface OwnedPartition extends TopicPartition {
  /** The offset of the next record to deliver to the service. */
  next: number
  /**
   * The broker's timestamp of the last delivered record, even if Kafka has truncated that record
   * since.
   */
  lastTimestamp?: EpochMs | undefined
  paused: boolean
  /** Whether the broker could not read the partition. It is then not fetched for one second. */
  isUnreadable?: boolean
  /** Monotonic milliseconds of the last log line about the unreadable partition. */
  unreadableLoggedAt?: number
  /** Whether the partition is being revoked. It is not fetched, but still owned. */
  isRevoking: boolean
  /**
   * The last commit. `undefined` before the first commit, and from a truncation of the log until
   * the next commit.
   */
  committed: Committed | undefined
  /**
   * Whether no offset is committed and the beginning of the log is unknown. `next` is then 0, but
   * is not committed, because the next owner must find the beginning.
   */
  readonly isBeginningUnknown?: boolean
}

/** Whether the position is 0 because the beginning of the log is unknown. */
export const isBeforeBeginning = ({ isBeginningUnknown }: OwnedPartition, position: number): boolean =>
  isBeginningUnknown === true && position === 0

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

  /** Whether no partition is paused, unreadable or being revoked. */
  get areAllFetched(): boolean {
    return this.all().every(({ paused, isUnreadable = false, isRevoking }) => !paused && !isUnreadable && !isRevoking)
  }

  all(): readonly OwnedPartition[] {
    return [...this.#byKey.values()]
  }
}

export const toTopicPartition = ({ topic, partition }: TopicPartition): TopicPartition => ({ topic, partition })

/** Converts an assigned partition to the position for `onAssigned`. */
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
 * Gives kafkajs the positions of the partitions. Call it after each join, in which kafkajs forgets
 * the committed offsets. Otherwise kafkajs would request them again, and this request fails for all
 * partitions if one partition has no leader.
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
