import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hookline, type RunningService, startService } from '../../../deploy/tools/local/hookline-process.ts'
import { createEventCodec } from '../../../src/adapters/avro/event-codec.ts'
import { createRegistry } from '../../../src/adapters/avro/schema-registry.ts'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import { type Event, keyOf } from '../../../src/core/message/event.ts'
import type { EventCodec, LogProducer, LogRecord, OutgoingRecord } from '../../../src/core/ports.ts'
import { type TopicNames, topicNames } from '../../../src/core/topics.ts'
import { trackMessage } from '../collector/normalised-track-message.ts'
import { assertNoSecrets, testSecret } from '../secret-scan/make-and-find-test-secrets.ts'
import { assertNoSecretsPrinted, metricsTextOf } from '../secret-scan/scan-responses-and-output.ts'
import { silent } from '../telemetry/silent-logger.ts'

/**
 * A separate installation with real processes. It uses the schema registry and, by default, the
 * broker of the test run.
 */
export interface TestInstallation {
  readonly topics: TopicNames
  readonly configFile: string
  readonly codec: EventCodec
  /**
   * Starts another `hookline run`. `own` is added to its environment, and `words` to its arguments.
   */
  run(own?: NodeJS.ProcessEnv, words?: readonly string[]): Promise<RunningService>
  /** Running services reload the new file. */
  configure(overrides: ConfigurationOverrides): Promise<void>
  /** Resolves when Kafka has acknowledged all records. */
  write(topic: string, records: readonly OutgoingRecord[]): Promise<void>
  send(events: readonly Event[]): Promise<void>
  read(topic: string): Promise<readonly LogRecord[]>
  /** Like `read`, for topics that do not fit into memory. */
  readEach(topic: string, onRecord: (record: LogRecord) => void): Promise<void>
  /** Runs `hookline …words`. @throws when the command fails or prints a secret */
  command(...words: readonly string[]): Promise<string>
  log(): Promise<readonly Record<string, unknown>[]>
  /** @throws when the log or the metrics of the services have a secret */
  close(): Promise<void>
}

/** The usual write key of the source `web`. */
export const webKey = testSecret('web-key')

/**
 * Changes to the default configuration. Each key replaces its whole default value. Only `topics` is
 * merged key by key.
 */
export interface ConfigurationOverrides {
  readonly topics?: { readonly prefix?: string; readonly partitions: number; readonly replicationFactor: number }
  readonly [key: string]: unknown
}

export async function startInstallation(
  config: ConfigurationOverrides,
  brokers = process.env['KAFKA_BROKERS'] ?? '',
): Promise<TestInstallation> {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-test-'))
  const configFile = join(directory, 'hookline.json')
  const logFile = join(directory, 'service.log')
  const prefix = `test-${randomUUID().slice(0, 8)}`
  const topics = topicNames(prefix)
  const registry = process.env['SCHEMA_REGISTRY_URL'] ?? ''
  const base = {
    kafka: { brokers: brokers.split(',') },
    topics: { prefix, partitions: 4, replicationFactor: 1 },
    registry: { url: registry },
    collector: { listen: '127.0.0.1:0' },
    ops: { listen: '127.0.0.1:0' },
    network: { allow: ['127.0.0.0/8'] },
    sources: [{ id: 'web', writeKey: webKey }],
  }
  const write = async (overrides: ConfigurationOverrides): Promise<void> => {
    const content = { ...base, ...overrides, topics: { ...base.topics, ...overrides.topics } }
    // A process must not read a part of the file.
    const next = `${configFile}.next`
    await writeFile(next, JSON.stringify(content, null, 2))
    await rename(next, configFile)
  }
  await write(config)
  // Tests can choose another broker than that of the environment.
  const env = { ...process.env, KAFKA_BROKERS: brokers }
  const command = async (...words: readonly string[]): Promise<string> => {
    const out = await hookline(configFile, words, env)
    assertNoSecretsPrinted(words, { out })
    return out
  }
  try {
    await Promise.all([command('topics', 'apply'), command('schemas', 'register')])
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
  const kafka = createKafka({ brokers: brokers.split(','), clientId: 'test', tls: undefined, sasl: undefined }, silent)
  const codec = await createEventCodec({
    registry: createRegistry({ url: registry, auth: undefined }),
    eventsTopic: topics.events,
    clock,
  })
  const producer = createProducer({ kafka, clock, logger: silent })
  const running = new Set<RunningService>()
  const readEach: TestInstallation['readEach'] = async (topic, onRecord) => {
    await createReader({ kafka, clock, logger: silent }).readToEnd(topic, record => {
      // Processes write these records only to learn the broker's time.
      if (record.key?.toString() !== '-/clock') onRecord(record)
    })
  }

  return {
    topics,
    configFile,
    codec,
    run: async (own = {}, words = []) => {
      const service = await startService(configFile, logFile, { ...env, ...own }, words)
      running.add(service)
      return service
    },
    configure: write,
    write: (topic, records) => append(producer, topic, records),
    send: events =>
      append(
        producer,
        topics.events,
        events.map(event => recordOf(event, codec)),
      ),
    read: async topic => {
      const records: LogRecord[] = []
      await readEach(topic, record => void records.push(record))
      return records
    },
    readEach,
    command,
    log: async () =>
      (await readFile(logFile, 'utf8'))
        .split('\n')
        // The text after the last line end is an incomplete line.
        .slice(0, -1)
        .filter(Boolean)
        .map(line => JSON.parse(line)),
    close: async () => {
      const metrics = await Promise.all([...running].map(metricsTextOf))
      await Promise.all([...running].map(service => service.kill()))
      await producer.stop()
      const log = await readFile(logFile).catch(() => Buffer.of())
      await rm(directory, { recursive: true, force: true })
      assertNoSecrets('the log', log)
      assertNoSecrets('the text of /metrics', metrics.join('\n'))
    },
  }
}

function recordOf(event: Event, codec: EventCodec): OutgoingRecord {
  const key = keyOf(event.message)
  return { key: key === undefined ? null : Buffer.from(key), value: codec.encode(event), headers: {} }
}

async function append(producer: LogProducer, topic: string, records: readonly OutgoingRecord[]): Promise<void> {
  await Promise.all(
    records.map(
      record =>
        new Promise<void>((resolve, reject) => {
          producer.append(topic, record, error => (error === undefined ? resolve() : reject(error)))
        }),
    ),
  )
}

/**
 * Creates `count` track events of the source `web`, with the ids `<prefix>-0` and so on. Each has
 * its own user.
 */
export function trackEvents(count: number, prefix = 'm'): readonly Event[] {
  return Array.from({ length: count }, (_, index) => ({
    sourceId: 'web',
    destinationId: undefined,
    receivedAt: clock.now(),
    canonical: true,
    origin: undefined,
    message: trackMessage(`${prefix}-${index}`, { userId: `user-${index}` }),
  }))
}
