import process from 'node:process'
import { createEventCodec } from '../../../src/adapters/avro/event-codec.ts'
import { createRegistry } from '../../../src/adapters/avro/schema-registry.ts'
import { processClock as clock, processTime } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import type { Logger } from '../../../src/core/ports.ts'
import { topicNames } from '../../../src/core/topics.ts'
import { processClock as clientClock } from '../../client/src/clock.ts'
import { createLog, isDebugging, writeToStderr } from '../../client/src/log.ts'
import type { Transport } from '../../client/src/transport.ts'
import { createKafkaTransport, type EventsTopic } from './kafka-transport.ts'
import type { KafkaTransportOptions } from './kafka-transport-options.ts'
import { kafkaTransportSettings } from './validate-kafka-transport-options.ts'

/* The Kafka transport of the client library, `@hookline/client-kafka`. */

export type { KafkaTransportOptions } from './kafka-transport-options.ts'

/**
 * Creates a transport that writes to the events topic. A message counts as sent when all in-sync
 * replicas have it.
 * @throws ConfigError; KafkaError `LIBRARY_VERSION` for an unsupported kafkajs
 */
export function kafkaTransport(options: KafkaTransportOptions): Transport {
  const { sourceId, topicPrefix, ...settings } = kafkaTransportSettings(options)
  const eventsTopic = topicNames(topicPrefix).events
  const logger = debugLogger()
  const kafka = createKafka(settings.kafka, logger, { keepsAlive: false })
  const producer = createProducer({ kafka, clock, logger, onAppended: processTime.learn })

  async function open(): Promise<EventsTopic> {
    const { encode } = await createEventCodec({ registry: createRegistry(settings.registry), eventsTopic, clock })
    return {
      encode,
      append: (key, value, maySend, onAck) => producer.append(eventsTopic, { key, value, headers: {}, maySend }, onAck),
      flush: () => void producer.flush(),
    }
  }

  return createKafkaTransport({
    sourceId,
    open,
    close: () => producer.stop(),
    now: clock.now,
    // Before the first response of a broker, the brokers' time is unknown. So `undefined` turns the
    // correction of timestamps off.
    machineTime: () => (processTime.learnedAt() === Number.NEGATIVE_INFINITY ? undefined : clientClock.now()),
    hold: clientClock.keepAlive,
  })
}

/** Logs only with `DEBUG=analytics`, because the client reports all failures itself. */
function debugLogger(): Logger {
  const debugging = isDebugging(process.env['DEBUG'])
  const log = createLog({ write: writeToStderr, clock: clientClock, debugging })
  const write = (fields: object, line: string): void => log.debug(() => `${line} ${JSON.stringify(fields)}`)
  return { isLevelEnabled: () => debugging, debug: write, info: write, warn: write, error: write }
}
