import { type KafkaClient, metadataMaxAgeMs } from '../kafkajs/client.ts'
import { errorCodeOf, toKafkaError, topicMissing } from '../kafkajs/errors.ts'
import { loadKafkajs } from '../kafkajs/load-kafkajs.ts'
import { brokerError, leaderNotAvailable, rejectErrors } from '../kafkajs/patch-metadata.ts'
import type { Cluster } from '../kafkajs/private-api.ts'

/**
 * Creates kafkajs's cluster client, for fetches without a consumer group. kafkajs passes the client
 * only to the partition assigners of a consumer. So this function creates a consumer that never
 * runs.
 */
export function createClusterClient(kafka: KafkaClient): Cluster {
  const { roundRobin } = loadKafkajs().PartitionAssigners
  let cluster: unknown
  kafka.consumer({
    groupId: 'none',
    allowAutoTopicCreation: false,
    metadataMaxAge: metadataMaxAgeMs,
    partitionAssigners: [
      config => {
        cluster = config.cluster
        return roundRobin(config)
      },
    ],
  })
  return cluster as Cluster
}

/**
 * Connects to the cluster if needed, and lists the partitions of a topic.
 * @throws KafkaError, for example `TOPIC_MISSING`
 */
export async function connectAndListPartitions(cluster: Cluster, topic: string): Promise<readonly number[]> {
  try {
    await cluster.connect()
    await cluster.addTargetTopic(topic)
    const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)
    if (partitions.length > 0) return partitions
    rejectErrors(cluster.brokerPool.metadata, [topic])
    throw brokerError(leaderNotAvailable)
  } catch (error) {
    if (errorCodeOf(error) === 'UNKNOWN_TOPIC_OR_PARTITION') throw topicMissing(topic, error)
    throw toKafkaError(`cannot read topic ${topic}`, error)
  }
}

/** The node id of a partition's leader in the cached metadata; -1 when it is unknown. */
export const leaderOf = (cluster: Cluster, topic: string, partition: number): number =>
  cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition)?.leader ?? -1
