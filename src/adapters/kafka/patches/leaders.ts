import { type ConsumerGroup, internal } from '../internals.ts'

/**
 * Before each fetch kafkajs searches a list for every partition and copies what it has found so far: with 240 partitions 57,000 steps and a
 * quarter of a megabyte of garbage. Here each is looked at once. Only leaders are read from: no consumer of ours names a rack.
 */
export function cureSlowLeaders(): void {
  const { prototype } = internal<{ prototype: ConsumerGroup }>('consumer/consumerGroup')
  const find = prototype.findReadReplicaForPartitions
  prototype.findReadReplicaForPartitions = function (this: ConsumerGroup, topic, partitions) {
    const metadata = this.cluster.findTopicPartitionMetadata(topic)
    const leaders = new Map(metadata.map(({ partitionId, leader }) => [partitionId, leader]))
    const byLeader: Record<string, number[]> = {}
    for (const partition of partitions) {
      const leader = leaders.get(partition)
      // What is not known yet is not read; what it says of one without a leader is its own affair.
      if (leader === null) return find.call(this, topic, partitions)
      if (leader === undefined) continue
      byLeader[leader] ??= []
      byLeader[leader].push(partition)
    }
    return byLeader
  }
}
