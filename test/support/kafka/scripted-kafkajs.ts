import type { ProducerConfig, ProducerRecord, RecordMetadata } from 'kafkajs'
import type { KafkaClient } from '../../../src/adapters/kafka/kafkajs/client.ts'

export type Send = (request: ProducerRecord) => Promise<Partial<RecordMetadata>[]>

const partitionMetadata = [{}, {}, {}]

export const storedResponse = ({ topic, messages }: ProducerRecord): Partial<RecordMetadata>[] => [
  { topicName: topic, partition: messages[0]?.partition as number, errorCode: 0 },
]

/**
 * A kafkajs client for tests of the producer. As in kafkajs, the partitioner is called for each
 * message before `send`.
 */
export function scriptedKafkajs(send: Send): KafkaClient {
  return {
    admin: () => ({
      connect: async () => undefined,
      disconnect: async () => undefined,
      fetchTopicMetadata: async () => ({ topics: [{ partitions: partitionMetadata }] }),
    }),
    producer: ({ createPartitioner }: Required<ProducerConfig>) => {
      const partition = createPartitioner() as (args: object) => number
      return {
        connect: async () => undefined,
        disconnect: async () => undefined,
        async send(request: ProducerRecord) {
          const { topic, messages } = request
          for (const message of messages) partition({ topic, partitionMetadata, message })
          return send(request)
        },
      }
    },
  } as unknown as KafkaClient
}
