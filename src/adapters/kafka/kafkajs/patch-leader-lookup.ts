import { brokerError, leaderNotAvailable } from './patch-metadata.ts'
import { type Cluster, type ConsumerGroup, internal } from './private-api.ts'

/** The value of `leader` in the metadata of a partition without a leader. */
const noLeader = '-1'

/**
 * Defect: before each fetch and each produce request, kafkajs looks up the leaders in quadratic
 * time (cluster/index.js:320, consumer/consumerGroup.js:690).
 * Patch: looks up each partition in a map. Ignores read replicas, because Hookline sets no rack.
 * Remove when: kafkajs's look-up takes linear time.
 */
export function patchLeaderLookup(): void {
  const { prototype: cluster } = internal<{ prototype: Cluster }>('cluster')
  const { prototype: group } = internal<{ prototype: ConsumerGroup }>('consumer/consumerGroup')
  const { findLeaderForPartitions } = cluster
  const { findReadReplicaForPartitions } = group
  cluster.findLeaderForPartitions = function (this: Cluster, topic, partitions) {
    const found = byLeader(this, topic, partitions) ?? findLeaderForPartitions.call(this, topic, partitions)
    if (noLeader in found) throw brokerError(leaderNotAvailable)
    return found
  }
  group.findReadReplicaForPartitions = function (this: ConsumerGroup, topic, partitions) {
    return byLeader(this.cluster, topic, partitions) ?? findReadReplicaForPartitions.call(this, topic, partitions)
  }
}

/** Groups partitions by leader. Returns `undefined` if the metadata lacks a partition. */
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
