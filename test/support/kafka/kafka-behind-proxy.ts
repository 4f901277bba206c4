import { connect } from 'node:net'
import type { KafkaConfig } from 'kafkajs'
import { consumerRetry, type KafkaClient } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { loadKafkajs } from '../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import type { TcpProxy } from '../network/tcp-proxy.ts'

/** A Kafka client whose connections all go through the proxy. */
export function kafkaBehind({ port }: TcpProxy, brokers: string[]): KafkaClient {
  const { Kafka, logLevel } = loadKafkajs()
  const config: KafkaConfig = {
    ...{ brokers, clientId: 'cut off', logLevel: logLevel.NOTHING },
    ...{ connectionTimeout: 5_000, requestTimeout: 10_000, retry: consumerRetry },
    socketFactory: ({ onConnect }) => connect({ host: '127.0.0.1', port }, onConnect),
  }
  return {
    consumer: given => new Kafka(config).consumer(given),
    producer: given => new Kafka(config).producer(given),
    admin: () => new Kafka(config).admin(),
  }
}
