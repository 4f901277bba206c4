import { type Cluster, type ConsumerGroup, internal } from '../private-api.ts'

/**
 * Defect: before each fetch and each send kafkajs searches a list for every partition and copies
 * its result so far (cluster/index.js:320, consumer/consumerGroup.js:690): with 240 partitions
 * 57,000 steps and 250 KB of garbage. The bench row of 240 partitions needs it
 * (docs/decisions/0018).
 * Patch: looks each partition up once. Consumers read from leaders only: Hookline sets no rack.
 * Remove when: the look-up of kafkajs is linear in the number of partitions.
 */
export function patchLeaderLookup(): void {
  const { prototype: cluster } = internal<{ prototype: Cluster }>('cluster')
  const { prototype: group } = internal<{ prototype: ConsumerGroup }>('consumer/consumerGroup')
  const { findLeaderForPartitions } = cluster
  const { findReadReplicaForPartitions } = group
  cluster.findLeaderForPartitions = function (this: Cluster, topic, partitions) {
    return byLeader(this, topic, partitions) ?? findLeaderForPartitions.call(this, topic, partitions)
  }
  group.findReadReplicaForPartitions = function (this: ConsumerGroup, topic, partitions) {
    return byLeader(this.cluster, topic, partitions) ?? findReadReplicaForPartitions.call(this, topic, partitions)
  }
}

/** Undefined when a partition is unknown or has no leader: kafkajs's own code handles that. */
function byLeader(
  cluster: Cluster,
  topic: string,
  partitions: readonly (number | string)[],
): Record<string, number[]> | undefined {
  const metadata = cluster.findTopicPartitionMetadata(topic)
  const leaders = new Map(metadata.map(({ partitionId, leader }) => [partitionId, leader]))
  const found: Record<string, number[]> = {}
  for (const each of partitions) {
    const partition = Number(each)
    const leader = leaders.get(partition)
    if (typeof leader !== 'number') return undefined
    found[leader] ??= []
    found[leader].push(partition)
  }
  return found
}
