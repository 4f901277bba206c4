import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hookline } from '../../../deploy/tools/local/hookline-process.ts'
import { createEventCodec } from '../../../src/adapters/avro/event-codec.ts'
import { createRegistry } from '../../../src/adapters/avro/schema-registry.ts'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import type { LogRecord, OutgoingRecord } from '../../../src/core/ports.ts'
import type { RecordedAttempts } from '../../../src/core/settings/schema-of-attempts-topic.ts'
import { durationMs, parseDuration } from '../../../src/core/time.ts'
import { type TopicNames, topicNames, topicSpecs } from '../../../src/core/topics.ts'
import { paced } from '../../../src/services/pacer.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import { createAppend } from './append-records.ts'
import { deleteAllRecords, useTopics } from './create-first-index-entries.ts'
import { createEvents, numberIn } from './sample-events.ts'
import type { Stage } from './test-bed.ts'

export interface Installation {
  readonly topics: TopicNames
  readonly sourceIds: readonly string[]
  readonly partitions: number
  readonly directory: string
  /** The part that all configuration files share. */
  readonly base: object
  /** Number of events appended so far, which is also the number of the next event. */
  appended(): number
  /**
   * Appends `count` events as fast as possible, by default from all sources in turn. Resolves when
   * all are acknowledged.
   */
  fill(count: number, source?: string): Promise<void>
  /** Like `fill`, at an even rate. */
  feed(count: number, perSecond: number, source?: string): Promise<void>
  /** The append time of each event in whole ms since 1970, by the number of the event. */
  appendTimes(): Promise<ReadonlyMap<number, number>>
  /** The partition of each event, by the number of the event. */
  eventPartitions(): Promise<ReadonlyMap<number, number>>
  /** Resolves when all records are acknowledged. */
  write(topic: string, records: Iterable<OutgoingRecord>): Promise<void>
  /** Appends one record for each event of the events topic. Resolves when all are acknowledged. */
  writeOfEvents(topic: string, recordOf: (event: LogRecord) => OutgoingRecord): Promise<void>
  /** The first match of `pattern` in each event. Events without a match are left out. */
  eventTexts(pattern: RegExp): Promise<readonly string[]>
  /** Average bytes of a record: key, value and headers. `NaN` if the topic is empty. */
  recordBytes(topic: string): Promise<number>
  /**
   * Counts the records of a topic, except those with the key `-/clock`, with which processes learn
   * the broker's time.
   */
  countRecords(topic: string): Promise<number>
  /**
   * Deletes what an earlier run with the same events has left: the committed offsets of Hookline's
   * groups, and the records of the retry topics, which would be delivered again. The members of the
   * groups must have left before.
   */
  prepareRun(): Promise<void>
  close(): Promise<void>
}

export interface InstallationOptions {
  /** Number of sources from which the events come, in turn. Default: 1. */
  readonly sources?: number
  readonly schedule?: readonly string[]
  /** Partitions of each topic. Default: 12. */
  readonly partitions?: number
  /** Content of `operator.encryptionKeyFile`. Absent: no config topic. */
  readonly encryptionKey?: string
  /** A key with the role `operate`. Absent: no jobs topic. */
  readonly operatorKey?: string
  /** Value of `delivery.attemptsTopic`. Default: `failures`. */
  readonly attemptsTopic?: RecordedAttempts
}

export async function createInstallation(stage: Stage, options: InstallationOptions = {}): Promise<Installation> {
  const prefix = `bench-${randomUUID().slice(0, 8)}`
  const topics = topicNames(prefix)
  const directory = join(stage.directory, prefix)
  const sourceIds = Array.from({ length: options.sources ?? 1 }, (_, index) => `s${index}`)
  const { partitions = 12, encryptionKey, operatorKey, attemptsTopic = 'failures' } = options
  const keyFile = join(directory, 'encryption.key')
  const schedule = options.schedule ?? ['10s', '30s', '1m', '5m']
  const kafkaSettings = { brokers: stage.brokers, clientId: 'bench', tls: undefined, sasl: undefined }
  const base = {
    kafka: { brokers: stage.brokers },
    topics: { prefix, partitions, replicationFactor: 1 },
    registry: { url: stage.registryUrl },
    ops: { listen: '127.0.0.1:0' },
    network: { allow: ['127.0.0.0/8', '::1/128'] },
    delivery: { schedule, attemptsTopic },
    ...((encryptionKey ?? operatorKey) !== undefined && {
      operator: {
        ...(encryptionKey !== undefined && { encryptionKeyFile: keyFile }),
        ...(operatorKey !== undefined && { keys: [{ name: 'bench', role: 'operate', key: operatorKey }] }),
      },
    }),
    sources: sourceIds.map(id => ({ id, writeKey: `key-of-${id}` })),
  }
  await mkdir(directory)
  if (encryptionKey !== undefined) await writeFile(keyFile, encryptionKey)
  const file = join(directory, 'topics.json')
  await writeFile(file, JSON.stringify(base))
  await applyTopics(file)
  await hookline(file, ['schemas', 'register'])

  const kafka = createKafka(kafkaSettings, silent)
  const registry = createRegistry({ url: stage.registryUrl, auth: undefined })
  const record = createEvents(await createEventCodec({ registry, eventsTopic: topics.events, clock }), sourceIds)
  const producer = createProducer({ kafka, clock, logger: silent })
  const admin = kafka.admin()
  await admin.connect()
  const specs = topicSpecs({ prefix, partitions, replicationFactor: 1 }, schedule.map(durationOf), {
    attemptsTopic,
    configTopic: encryptionKey !== undefined,
    jobsTopic: operatorKey !== undefined,
  })
  const retryTopics = specs.filter(({ name }) => topics.tierOf(name) !== undefined)
  await useTopics({ brokers: stage.brokers, producer }, [
    ...specs.filter(({ name }) => name === topics.events),
    ...retryTopics,
  ])
  const append = createAppend(producer, topics.events)
  let next = 0

  return {
    topics,
    sourceIds,
    partitions,
    directory,
    base,
    appended: () => next,
    async fill(count, source) {
      for (let left = count; left > 0; left--) await append.one(record(next++, source))
      await append.all()
    },
    async feed(count, perSecond, source) {
      for await (const _ of paced({ count, perSecond }, clock, new AbortController().signal))
        await append.one(record(next++, source))
      await append.all()
    },
    async appendTimes() {
      const times = new Map<number, number>()
      await createReader({ kafka, clock, logger: silent }).readToEnd(topics.events, ({ value, timestamp }) => {
        const number = value === null ? undefined : numberIn(value)
        if (number !== undefined) times.set(number, timestamp)
      })
      return times
    },
    async eventPartitions() {
      const found = new Map<number, number>()
      await createReader({ kafka, clock, logger: silent }).readToEnd(topics.events, ({ value, partition }) => {
        const number = value === null ? undefined : numberIn(value)
        if (number !== undefined) found.set(number, partition)
      })
      return found
    },
    async write(topic, records) {
      const appendTo = createAppend(producer, topic)
      for (const each of records) await appendTo.one(each)
      await appendTo.all()
    },
    async writeOfEvents(topic, recordOf) {
      const appendTo = createAppend(producer, topic)
      await createReader({ kafka, clock, logger: silent }).readToEnd(topics.events, event =>
        appendTo.one(recordOf(event)),
      )
      await appendTo.all()
    },
    async eventTexts(pattern) {
      const found: string[] = []
      await createReader({ kafka, clock, logger: silent }).readToEnd(topics.events, ({ value }) => {
        const [text] = pattern.exec(value?.toString('latin1') ?? '') ?? []
        if (text !== undefined) found.push(text)
      })
      return found
    },
    async recordBytes(topic) {
      let bytes = 0
      const count = await createReader({ kafka, clock, logger: silent }).readToEnd(topic, record => {
        bytes += sizeOf(record)
      })
      return bytes / count
    },
    async countRecords(topic) {
      let count = 0
      await createReader({ kafka, clock, logger: silent }).readToEnd(topic, ({ key }) => {
        if (key?.toString() !== '-/clock') count++
      })
      return count
    },
    async prepareRun() {
      const { groups } = await admin.listGroups()
      const own = [topics.dispatcherGroup, topics.retriesGroup]
      const existing = own.filter(id => groups.some(({ groupId }) => groupId === id))
      if (existing.length > 0) await admin.deleteGroups(existing)
      await deleteAllRecords(stage.brokers, retryTopics)
    },
    async close() {
      await producer.stop()
      await admin.deleteTopics({ topics: specs.map(({ name }) => name) })
      await admin.disconnect()
    },
  }
}

const mostTries = 5

/**
 * Creates the topics. Tries up to five times, because a busy broker may not know a topic that it
 * has just created.
 */
async function applyTopics(file: string, tries = 1): Promise<void> {
  try {
    await hookline(file, ['topics', 'apply'])
  } catch (error) {
    if (tries === mostTries || !String(error).includes('does not host this topic-partition')) throw error
    await applyTopics(file, tries + 1)
  }
}

const sizeOf = ({ key, value, headers }: LogRecord): number =>
  (key?.length ?? 0) +
  (value?.length ?? 0) +
  Object.entries(headers).reduce((sum, [name, text]) => sum + name.length + (text?.length ?? 0), 0)

const durationOf = (text: string) => parseDuration(text) ?? durationMs(0)
