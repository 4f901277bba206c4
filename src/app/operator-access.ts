import { createAudienceInputCodec, createMembershipCodec } from '../adapters/avro/audience-codecs.ts'
import { createEventCodec } from '../adapters/avro/avro.ts'
import { createRegistry } from '../adapters/avro/schema-registry.ts'
import { systemClock as clock, systemTime } from '../adapters/clock/clock.ts'
import { createKafka } from '../adapters/kafka/kafkajs/client.ts'
import { createLogPositions } from '../adapters/kafka/log/admin.ts'
import { createFollower } from '../adapters/kafka/log/follower.ts'
import { createReader } from '../adapters/kafka/log/reader.ts'
import { createProducer } from '../adapters/kafka/producer/producer.ts'
import type { AudienceInput } from '../core/audience/input.ts'
import type { MembershipRecord } from '../core/audience/record.ts'
import type { Clock, EventCodec, LogPositions, LogProducer, TopicReader, ValueCodec } from '../core/ports.ts'
import type { Settings } from '../core/settings/settings.ts'
import { topicNames } from '../core/topics.ts'
import type { EpochMs } from '../core/units.ts'
import { createBrokerTime } from '../services/broker-time.ts'
import { createSuppressionList, type SuppressionList } from '../services/deletion/suppression-list.ts'
import { type CommandIo, commandLogger } from './command.ts'

/** What commands about audiences and deletions work with; each part connects when it is first used. */
export interface OperatorAccess {
  readonly clock: Clock
  readonly reader: TopicReader
  readonly producer: LogProducer
  readonly positions: LogPositions
  /** Asks a broker; the clock goes by its time from then on. */
  brokersNow(): Promise<EpochMs>
  /** @throws SchemaNotRegistered, RegistryUnavailable */
  events(): Promise<EventCodec>
  /** @throws as `events` */
  inputs(): Promise<ValueCodec<AudienceInput>>
  /** @throws as `events` */
  memberships(): Promise<ValueCodec<MembershipRecord>>
  /** All that is known of deleted users, and followed from then on. Rejects while the topic cannot be read. */
  marks(): Promise<SuppressionList>
  /** Ends what was used; what was handed to the producer is answered first. */
  close(): Promise<void>
}

export type OpenOperatorAccess = (settings: Settings, io: CommandIo) => OperatorAccess

export const openOperatorAccess: OpenOperatorAccess = (settings, io) => {
  const logger = commandLogger(io)
  const deps = { kafka: createKafka(settings.kafka, logger), clock, logger }
  const topics = topicNames(settings.topics.prefix)
  const registry = createRegistry(settings.registry)
  const producer = createProducer({ ...deps, onAppended: systemTime.learn })
  const { learnedAt } = systemTime
  const time = createBrokerTime({ ...deps, producer, topic: topics.deletions, learnedAt })
  const follower = createFollower({ ...deps, topic: topics.suppressions })
  const marks = createSuppressionList({ ...deps, follower, producer, topic: topics.suppressions })
  let isFollowing = false
  return {
    clock,
    producer,
    reader: createReader(deps),
    positions: createLogPositions(deps.kafka),
    brokersNow: time.now,
    events: () => createEventCodec({ registry, eventsTopic: topics.events, clock }),
    inputs: () => createAudienceInputCodec({ registry, topic: topics.audienceInput, clock }),
    memberships: () => createMembershipCodec({ registry, topic: topics.memberships, clock }),
    async marks() {
      isFollowing = true
      await marks.start()
      return marks
    },
    async close() {
      await producer.stop()
      if (isFollowing) await marks.stop()
    },
  }
}
