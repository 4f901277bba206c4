import { createAudienceInputCodec, createMembershipCodec } from '../adapters/avro/audience-codecs.ts'
import { createEventCodec } from '../adapters/avro/event-codec.ts'
import { createRegistry } from '../adapters/avro/schema-registry.ts'
import { processClock as clock, processTime } from '../adapters/clock/process-clock.ts'
import { createKafka } from '../adapters/kafka/kafkajs/client.ts'
import { createLogPositions } from '../adapters/kafka/log/end-and-committed-offsets.ts'
import { partitionCount } from '../adapters/kafka/log/topic-admin.ts'
import { createFollower } from '../adapters/kafka/log/topic-follower.ts'
import { createReader } from '../adapters/kafka/log/topic-reader.ts'
import { createProducer } from '../adapters/kafka/producer/producer.ts'
import type { AudienceInput } from '../core/audience/input.ts'
import type { MembershipRecord } from '../core/audience/membership-and-watermark-records.ts'
import { defaultSuppressionRetention } from '../core/default-suppression-retention.ts'
import type { Clock, EventCodec, LogPositions, LogProducer, TopicReader, ValueCodec } from '../core/ports.ts'
import type { Settings } from '../core/settings/settings.ts'
import type { EpochMs } from '../core/time.ts'
import { topicNames } from '../core/topics.ts'
import { createSuppressionList, type SuppressionList } from '../services/deletion/suppression-list.ts'
import { createBrokerTime } from '../services/learn-broker-time.ts'
import { type CommandIo, commandLogger } from './create-command.ts'

/**
 * Kafka clients and codecs for the commands that use topics. Each client connects at its first use.
 */
export interface CommandClients {
  readonly clock: Clock
  readonly reader: TopicReader
  readonly producer: LogProducer
  readonly positions: LogPositions
  /** Looks up the number of partitions of a topic. */
  countPartitions(topic: string): Promise<number>
  /**
   * Resolves with a broker's time. If no broker reports its time within 5 s, resolves with this
   * process's time. After a broker's report, `clock.now()` follows the broker's time.
   */
  brokerTime(): Promise<EpochMs>
  /** The codec of events. @throws SchemaNotRegistered, RegistryUnavailable */
  events(): Promise<EventCodec>
  /** The codec of audience inputs. @throws the same errors as `events` */
  inputs(): Promise<ValueCodec<AudienceInput>>
  /** The codec of memberships. @throws the same errors as `events` */
  memberships(): Promise<ValueCodec<MembershipRecord>>
  /** Reads the whole suppression list and then follows its topic. Rejects if it cannot be read. */
  suppressions(): Promise<SuppressionList>
  /** Waits for Kafka to acknowledge all records, then closes the clients. */
  close(): Promise<void>
}

export type OpenCommandClients = (settings: Settings, io: CommandIo) => CommandClients

export const openCommandClients: OpenCommandClients = (settings, io) => {
  const logger = commandLogger(io)
  const deps = { kafka: createKafka(settings.kafka, logger), clock, logger }
  const topics = topicNames(settings.topics.prefix)
  const registry = createRegistry(settings.registry)
  const producer = createProducer({ ...deps, onAppended: processTime.learn })
  const { learnedAt } = processTime
  const time = createBrokerTime({ ...deps, producer, topic: topics.deletions, learnedAt })
  const follower = createFollower({ ...deps, topic: topics.suppressions })
  // The retention has no effect here: a command neither removes expired suppressions nor checks
  // whether suppressions stop an event.
  const retention = defaultSuppressionRetention
  const suppressions = createSuppressionList({ ...deps, follower, producer, topic: topics.suppressions, retention })
  let isFollowing = false
  return {
    clock,
    producer,
    reader: createReader(deps),
    positions: createLogPositions(deps.kafka),
    countPartitions: topic => partitionCount(deps.kafka, topic),
    brokerTime: time.now,
    events: () => createEventCodec({ registry, eventsTopic: topics.events, clock }),
    inputs: () => createAudienceInputCodec({ registry, topic: topics.audienceInput, clock }),
    memberships: () => createMembershipCodec({ registry, topic: topics.memberships, clock }),
    async suppressions() {
      isFollowing = true
      await suppressions.start()
      return suppressions
    },
    async close() {
      await producer.stop()
      if (isFollowing) await suppressions.stop()
    },
  }
}
