import { type Cluster, type ConsumerGroup, internal } from '../internals.ts'

/**
 * Before each fetch and each send kafkajs searches a list for every partition and copies what it has found so far: with 240 partitions 57,000
 * steps and a quarter of a megabyte of garbage. Here each is looked at once. Consumers too read from leaders only: none of ours names a rack.
 */
export function cureSlowLeaders(): void {
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

/** Undefined when one is not known or has no leader: what is to be made of that is kafkajs's own affair. */
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
