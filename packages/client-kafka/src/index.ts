import process from 'node:process'
import { createEventCodec } from '../../../src/adapters/avro/event-codec.ts'
import { createRegistry } from '../../../src/adapters/avro/schema-registry.ts'
import { processClock as clock, processTime } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import type { Logger } from '../../../src/core/ports.ts'
import { topicNames } from '../../../src/core/topics.ts'
import { processClock as clientClock } from '../../client/src/clock.ts'
import { createLog, isDebugging } from '../../client/src/log.ts'
import type { Transport } from '../../client/src/transport.ts'
import { createKafkaTransport, type EventsTopic } from './kafka-transport.ts'
import type { KafkaTransportOptions } from './kafka-transport-options.ts'
import { kafkaTransportSettings } from './validate-kafka-transport-options.ts'

/*
 * The Kafka transport of the client library, `@hookline/client-kafka`. It writes to the events
 * topic.
 */

export type { KafkaTransportOptions } from './kafka-transport-options.ts'

/**
 * A transport that writes to the events topic, for sources with many messages:
 * `new Analytics({ transport: kafkaTransport({ source, brokers, registry }) })`.
 *
 * It validates, normalises, encodes and partitions messages like the collector. A message counts as
 * sent when all in-sync replicas have it. The transport connects at the first message.
 * @throws ConfigError; KafkaError `LIBRARY_VERSION` for an unsupported version of kafkajs
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
    // The transport corrects timestamps by the difference between `clock` and the machine's clock.
    // `clock` learns the time of the brokers from their responses. Before the first response, it
    // continues from the time that the machine had at the start of the process. If somebody sets
    // the machine's clock in this phase, for example by an hour, `clock` ignores the step. The
    // difference is then an hour, although the machine's clock may be right. So this function
    // returns `undefined` until the first response, which turns the correction off.
    machineTime: () => (processTime.learnedAt() === Number.NEGATIVE_INFINITY ? undefined : clientClock.now()),
    hold: clientClock.keepAlive,
  })
}

/**
 * The logger for kafkajs. It writes only with `DEBUG=analytics`. Failures need no log line: the
 * transport returns them to the client as results of batches.
 */
function debugLogger(): Logger {
  const debugging = isDebugging(process.env['DEBUG'])
  const log = createLog({ write: line => process.stderr.write(line), clock: clientClock, debugging })
  const write = (fields: object, line: string): void => log.debug(() => `${line} ${JSON.stringify(fields)}`)
  return { isLevelEnabled: () => debugging, debug: write, info: write, warn: write, error: write }
}
