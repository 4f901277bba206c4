import process from 'node:process'
import { createEventCodec } from '../../../src/adapters/avro/avro.ts'
import { createRegistry } from '../../../src/adapters/avro/schema-registry.ts'
import { systemClock as clock } from '../../../src/adapters/clock/clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import type { Logger } from '../../../src/core/ports.ts'
import { topicNames } from '../../../src/core/topics.ts'
import { systemClock as clientClock } from '../../client/src/clock.ts'
import { createLog, isDebugging } from '../../client/src/log.ts'
import type { Transport } from '../../client/src/transport.ts'
import { createKafkaTransport, type EventsTopic } from './kafka-transport.ts'
import type { KafkaTransportOptions } from './kafka-transport-options.ts'
import { kafkaTransportSettings } from './kafka-transport-settings.ts'

/* The Kafka transport of the client library, `@hookline/client-kafka`: it writes to the events topic itself. */

export type { KafkaTransportOptions } from './kafka-transport-options.ts'

/**
 * A transport for sources of high volume: `new Analytics({ transport: kafkaTransport({ source, brokers, registry }) })`. Messages are
 * checked, normalised, encoded and partitioned as the collector does it, and sent when all in-sync replicas have them. Connects with the
 * first message. @throws ConfigError, and KafkaError `LIBRARY_VERSION`
 */
export function kafkaTransport(options: KafkaTransportOptions): Transport {
  const { sourceId, topicPrefix, ...settings } = kafkaTransportSettings(options)
  const eventsTopic = topicNames(topicPrefix).events
  const logger = debugLogger()
  const kafka = createKafka(settings.kafka, logger, { keepsAlive: false })
  const producer = createProducer({ kafka, clock, logger })

  async function open(): Promise<EventsTopic> {
    const { encode } = await createEventCodec({ registry: createRegistry(settings.registry), eventsTopic, clock })
    return {
      encode,
      append: (key, value, onAck) => producer.append(eventsTopic, { key, value, headers: {} }, onAck),
      flush: () => void producer.flush(),
    }
  }

  return createKafkaTransport({ sourceId, open, close: () => producer.stop(), now: clock.now, hold: clientClock.hold })
}

/** What goes wrong comes back as the result of a batch; the rest is told with `DEBUG=analytics` (B4.2). */
function debugLogger(): Logger {
  const debugging = isDebugging(process.env['DEBUG'])
  const log = createLog({ write: line => process.stderr.write(line), clock: clientClock, debugging })
  const tell = (fields: object, line: string): void => log.debug(() => `${line} ${JSON.stringify(fields)}`)
  return { isLevelEnabled: () => debugging, debug: tell, info: tell, warn: tell, error: tell }
}
