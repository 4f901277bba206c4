import { randomUUID } from 'node:crypto'
import type { KafkaTransportOptions } from '../../../packages/client-kafka/src/kafka-transport-options.ts'
import { createEventCodec, eventSchema } from '../../../src/adapters/avro/event-codec.ts'
import { createRegistry } from '../../../src/adapters/avro/schema-registry.ts'
import { subjectOf } from '../../../src/adapters/avro/schema-texts-and-subject-names.ts'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createAdmin } from '../../../src/adapters/kafka/log/topic-admin.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import type { Event } from '../../../src/core/message/event.ts'
import { epochMs } from '../../../src/core/time.ts'
import { silent } from '../telemetry/silent-logger.ts'

/** A separate events topic on a real broker and registry. No services read it. */
export interface RealEventsTopic {
  readonly topic: string
  readonly options: KafkaTransportOptions
  createTopic(): Promise<void>
  registerSchema(): Promise<void>
  events(): Promise<readonly { readonly event: Event; readonly key: string; readonly partition: number }[]>
  topics(): Promise<readonly string[]>
}

export const partitions = 4

/** Chooses a new topic name. The topic does not exist until `createTopic`. */
export function newRealEventsTopic(brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',')): RealEventsTopic {
  const topicPrefix = `contract-${randomUUID().slice(0, 8)}`
  const topic = `${topicPrefix}.events`
  const url = process.env['SCHEMA_REGISTRY_URL'] ?? ''
  const registry = createRegistry({ url, auth: undefined })
  const kafka = createKafka({ brokers, clientId: 'contract', tls: undefined, sasl: undefined }, silent)

  async function asked<T>(ask: (admin: ReturnType<typeof createAdmin>) => Promise<T>): Promise<T> {
    const admin = createAdmin(kafka)
    try {
      return await ask(admin)
    } finally {
      await admin.close()
    }
  }
  return {
    topic,
    options: { source: 'web', brokers, registry: { url }, topicPrefix },
    createTopic: () => asked(admin => admin.create({ name: topic, partitions, replicationFactor: 1, config: {} })),
    registerSchema: async () => void (await registry.register(subjectOf(topic), eventSchema)),
    topics: () => asked(admin => admin.listTopics()),
    async events() {
      const codec = await createEventCodec({ registry, eventsTopic: topic, clock })
      const found: { event: Event; key: string; partition: number }[] = []
      await createReader({ kafka, clock, logger: silent }).readToEnd(topic, ({ key, value, partition }) => {
        const decoded = codec.decode(value as Buffer, epochMs(0))
        if (decoded.kind !== 'event') throw new Error(JSON.stringify(decoded))
        found.push({ event: decoded.event, key: String(key), partition })
      })
      return found
    },
  }
}
