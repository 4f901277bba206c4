import type { Clock, Logger } from '../../../core/ports.ts'
import { durationMs } from '../../../core/time.ts'
import type { UnreadablePartition } from '../kafkajs/patch-fetch-errors.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import { refreshMetadataAfter } from '../kafkajs/refresh-metadata-after-delay.ts'
import type { OwnedPartition, OwnedPartitions } from './owned-partitions.ts'

interface Deps {
  readonly owned: OwnedPartitions
  readonly clock: Clock
  readonly logger: Logger
}

/** How long a partition is excluded from fetches after its broker could not read it. */
const retryAfter = durationMs(1_000)
/** Minimum milliseconds between two log lines about the same partition. */
const logEveryMs = 60_000

/**
 * Excludes partitions from fetches for one second, because their broker cannot read them. Then
 * refreshes the metadata, because another broker may have become the leader, and includes the
 * partitions again.
 */
export async function pauseUnreadable(
  { owned, clock, logger }: Deps,
  group: ConsumerGroup,
  partitions: readonly UnreadablePartition[],
): Promise<void> {
  const now = clock.monotonic()
  const paused: OwnedPartition[] = []
  for (const { topic, partition, code } of partitions) {
    const of = owned.get({ topic, partition })
    if (of === undefined) continue
    of.isUnreadable = true
    group.pause([{ topic, partitions: [partition] }])
    paused.push(of)
    if (now - (of.unreadableLoggedAt ?? Number.NEGATIVE_INFINITY) < logEveryMs) continue
    of.unreadableLoggedAt = now
    logger.error(
      { group: group.groupId, topic, partition, code },
      'the broker cannot read this partition (see "topic", "partition" and "code"), so the records of the partition wait; hookline tries again every second, and continues to read other partitions; see the log of the broker that leads this partition',
    )
  }
  await refreshMetadataAfter(clock, group.cluster, retryAfter)
  for (const of of paused) {
    of.isUnreadable = false
    if (owned.get(of) === of && !of.paused && !of.isRevoking)
      group.resume([{ topic: of.topic, partitions: [of.partition] }])
  }
}
