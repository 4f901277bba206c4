import { randomUUID } from 'node:crypto'
import { afterEach, expect } from '@jest/globals'
import type { Admin, Kafka } from 'kafkajs'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { type ConsumerDeps, createConsumer } from '../../../src/adapters/kafka/group/consumer.ts'
import { createKafka, type KafkaClient } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { loadKafkajs } from '../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { createAdmin } from '../../../src/adapters/kafka/log/topic-admin.ts'
import { createProducer, type ProducerDeps } from '../../../src/adapters/kafka/producer/producer.ts'
import type {
  LogConsumer,
  LogConsumerHandlers,
  LogProducer,
  LogRecord,
  OutgoingRecord,
  Position,
  RecordBatch,
  TopicPartition,
} from '../../../src/core/ports.ts'
import { OffsetTracker } from '../../../src/core/progress/offset-tracker.ts'
import { durationMs } from '../../../src/core/time.ts'
import { onceReady } from '../../support/kafka/retry-until-broker-ready.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'

export function brokers(): string[] {
  const list = process.env['KAFKA_BROKERS']
  if (list === undefined)
    throw new Error('KAFKA_BROKERS is not set: the suite runs through jest, which starts a broker')
  return list.split(',')
}

const cleanups: (() => Promise<unknown>)[] = []
const fatal: Error[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  expect(fatal.splice(0)).toEqual([])
})
/** Registers a cleanup that runs after the test. Cleanups run in reverse order. */
export function afterwards(cleanup: () => Promise<unknown>): void {
  cleanups.push(cleanup)
}

export function kafka(on = brokers()): KafkaClient {
  return createKafka({ brokers: on, clientId: 'contract', tls: undefined, sasl: undefined }, silent)
}

/** A plain kafkajs client, which acts as another application. */
export function plainKafka(on = brokers()): Kafka {
  const { Kafka, logLevel } = loadKafkajs()
  return new Kafka({ brokers: on, clientId: 'others', logLevel: logLevel.NOTHING, retry: { initialRetryTime: 50 } })
}

export async function plainAdmin(on = brokers()): Promise<Admin> {
  const admin = plainKafka(on).admin()
  await admin.connect()
  afterwards(() => admin.disconnect())
  return admin
}

export const uniqueName = (): string => `contract-${randomUUID()}`

/** Creates a topic. Resolves with its name when the broker knows it. */
export async function newTopic({
  name = uniqueName(),
  partitions = 1,
  config = {},
  on = brokers(),
}: {
  name?: string
  partitions?: number
  config?: Record<string, string>
  on?: string[]
} = {}): Promise<string> {
  const admin = createAdmin(kafka(on))
  await admin.create({ name, partitions, replicationFactor: 1, config })
  await admin.close()
  return name
}

export function producer(options: Partial<ProducerDeps> = {}): LogProducer {
  const created = createProducer({ kafka: kafka(), clock: processClock, logger: silent, ...options })
  afterwards(() => created.stop())
  return created
}

/** Adds partitions to a topic. Resolves when the metadata of the broker includes them. */
export async function growTo(count: number, topic: string): Promise<void> {
  const admin = await plainAdmin()
  await admin.createPartitions({ topicPartitions: [{ topic, count }] })
  await eventually(
    () => admin.fetchTopicMetadata({ topics: [topic] }),
    ({ topics }) => topics[0]?.partitions.length === count,
  )
}

/** Appends a record to a topic. Resolves when the record is stored. */
export function append(to: LogProducer, topic: string, record: Partial<OutgoingRecord> = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    to.append(topic, { key: null, value: null, headers: {}, ...record }, error =>
      error === undefined ? resolve() : reject(error),
    )
  })
}

export const appendAll = (
  to: LogProducer,
  topic: string,
  records: readonly Partial<OutgoingRecord>[],
): Promise<unknown> => Promise.all(records.map(record => append(to, topic, record)))

export const numbered = (count: number, from = 0): { value: Buffer }[] =>
  Array.from({ length: count }, (_, index) => ({ value: Buffer.from(String(from + index)) }))

/**
 * Handlers that record what a consumer delivers. They mark each record as done immediately, unless
 * `isDone` returns false for it.
 */
export class Recorder implements LogConsumerHandlers {
  readonly records: LogRecord[] = []
  readonly batches: RecordBatch[] = []
  readonly events: string[] = []
  readonly trackers = new Map<string, OffsetTracker>()
  isDone: (record: LogRecord) => boolean = () => true
  onBatch: (batch: RecordBatch) => void = () => undefined
  drain: (partitions: readonly TopicPartition[]) => Promise<void> = async () => undefined
  #changed: () => void = () => undefined

  onAssigned(positions: readonly Position[]): void {
    for (const { topic, partition, offset, metadata } of positions) {
      this.trackers.set(`${topic}/${partition}`, new OffsetTracker(offset, metadata))
      this.events.push(`assigned ${partition}@${offset}`)
    }
    this.#changed()
  }

  onRevoked(partitions: readonly TopicPartition[]): void {
    for (const { topic, partition } of partitions) {
      this.trackers.delete(`${topic}/${partition}`)
      this.events.push(`revoked ${partition}`)
    }
    this.#changed()
  }

  async onRevoking(partitions: readonly TopicPartition[]): Promise<void> {
    if (partitions.length > 0) this.events.push(`revoking ${partitions.map(({ partition }) => partition)}`)
    this.#changed()
    await this.drain(partitions)
  }

  onLeaseAcquired(): void {
    this.#changed()
  }

  onRecords(batch: RecordBatch): void {
    const tracker = this.trackers.get(`${batch.topic}/${batch.partition}`)
    if (tracker === undefined) throw new Error(`records of ${batch.partition}, which is not assigned`)
    this.batches.push(batch)
    for (const record of batch.records) {
      if (record.offset < tracker.received) continue
      if (!tracker.add(record.offset)) continue
      this.records.push(record)
      if (this.isDone(record)) tracker.done(record.offset)
    }
    tracker.advance(batch.nextOffset)
    this.onBatch(batch)
    this.#changed()
  }

  positions(): readonly Position[] {
    return [...this.trackers].map(([name, { committable: offset, metadata }]) => {
      const at = name.lastIndexOf('/')
      return { topic: name.slice(0, at), partition: Number(name.slice(at + 1)), offset, metadata }
    })
  }

  /** Resolves when the condition is true. It is checked after each call of a handler. */
  until(condition: () => boolean): Promise<void> {
    return new Promise(resolve => {
      this.#changed = () => {
        if (condition()) resolve()
      }
      this.#changed()
    })
  }

  get values(): (string | null)[] {
    return this.records.map(({ value }) => value?.toString() ?? null)
  }
}

export type Overrides = Partial<ConsumerDeps>

export function consumer(topics: readonly string[], options: Overrides = {}): LogConsumer {
  const created = createConsumer({
    maxWait: durationMs(100),
    kafka: kafka(),
    groupId: uniqueName(),
    topics,
    clock: processClock,
    logger: silent,
    onFatal: error => fatal.push(error),
    onPositionLost: () => undefined,
    ...options,
  })
  afterwards(() => created.stop())
  return created
}

/** The committed offsets of the group by partition; -1 without a commit. */
export async function committed(admin: Admin, groupId: string, topic: string): Promise<number[]> {
  const [answer] = await onceReady(() => admin.fetchOffsets({ groupId, topics: [topic] }))
  const partitions = answer?.partitions ?? []
  return [...partitions].sort((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset))
}

/** Repeats a call until its result is as expected, or until the timeout of Jest. */
export async function eventually<T>(ask: () => Promise<T>, isExpected: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (isExpected(answer)) return answer
  }
}

interface Coordinator {
  offsetCommit(request: object): Promise<unknown>
}
interface RawCluster {
  connect(): Promise<void>
  disconnect(): Promise<void>
  refreshMetadata(): Promise<void>
  findGroupCoordinator(group: { groupId: string }): Promise<Coordinator>
}

/**
 * Creates a group without members. Its committed offset of partition 0 is `offset`, even if
 * invalid.
 */
export async function groupAt(topic: string, offset: number): Promise<string> {
  const groupId = uniqueName()
  let seen: unknown
  const { roundRobin } = loadKafkajs().PartitionAssigners
  plainKafka().consumer({
    groupId,
    partitionAssigners: [
      config => {
        seen = config.cluster
        return roundRobin(config)
      },
    ],
  })
  const cluster = seen as RawCluster
  await cluster.connect()
  afterwards(() => cluster.disconnect())
  await cluster.refreshMetadata()
  const coordinator = await cluster.findGroupCoordinator({ groupId })
  const topics = [{ topic, partitions: [{ partition: 0, offset: String(offset) }] }]
  await coordinator.offsetCommit({ groupId, memberId: '', groupGenerationId: -1, topics })
  return groupId
}
