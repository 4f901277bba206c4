import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import kafkajs from 'kafkajs'
import type { Event } from '../../../src/core/message/event.ts'
import { type AdminClient, createAdminClient } from '../../support/kafka/admin.ts'
import { startMemberChurn } from '../../support/kafka/member-churn.ts'
import type { Load } from '../../support/process/repeated-load.ts'
import {
  type ConfigurationOverrides,
  startInstallation,
  type TestInstallation,
  trackEvents,
} from '../../support/process/test-installation.ts'
import { type LivePrometheus, opsOf } from '../../support/prometheus/server.ts'
import { ChangingEndpoint } from '../../support/webhook/changing-endpoint.ts'
import type { Fault, Installation } from './run-faults-and-await-alerts.ts'

const job = 'backlog'
/**
 * Age of the old records, in ms: more than half of the retention, so that `HooklineRetentionRisk`
 * fires.
 */
const agoMs = 4 * 86_400_000

interface Parts {
  readonly well: ChangingEndpoint
  readonly refusing: ChangingEndpoint
  readonly failing: ChangingEndpoint
}

const configuration = (parts: Parts): ConfigurationOverrides => ({
  delivery: { schedule: ['1s'] },
  sources: Object.keys(parts).map(id => ({ id, writeKey: `${id}-key` })),
  destinations: Object.entries(parts).map(([id, { url }]) => ({ id, sources: [id], webhooks: [{ url }] })),
})

/** A process whose events topic gets records that are days old. */
class Backlog {
  readonly installation: TestInstallation
  readonly #parts: Parts
  readonly #admin: AdminClient
  #members: Load | undefined

  private constructor(installation: TestInstallation, parts: Parts, admin: AdminClient) {
    this.installation = installation
    this.#parts = parts
    this.#admin = admin
  }

  static async started(prometheus: LivePrometheus): Promise<Backlog> {
    const [well, refusing, failing] = await Promise.all([0, 1, 2].map(() => ChangingEndpoint.started()))
    const parts = { well, refusing, failing } as Parts
    parts.refusing.status = 401
    parts.failing.status = 500
    const installation = await startInstallation(configuration(parts))
    const admin = await createAdminClient()
    // The topic keeps the producer's timestamps, like a topic that is mirrored from another
    // cluster.
    await admin.setTopicConfig(installation.topics.events, { 'message.timestamp.type': 'CreateTime' })
    await prometheus.scrape({ instance: job, job, address: opsOf(await installation.run()) })
    const started = new Backlog(installation, parts, admin)
    await Promise.all([parts.well.delivers(3), installation.send(eventsOf('well', 3))])
    return started
  }

  configure(): Promise<void> {
    return this.installation.configure(configuration(this.#parts))
  }

  async addBadFile(): Promise<void> {
    const folder = join(dirname(this.installation.configFile), 'more')
    await mkdir(folder)
    await writeFile(join(folder, 'bad.yaml'), 'id: bad')
    await this.installation.configure({ ...configuration(this.#parts), destinationsFrom: 'more' })
  }

  /** Writes at least one old record to each partition. */
  async mirror(source: keyof Parts): Promise<void> {
    const kafka = new kafkajs.Kafka({
      brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','),
      logLevel: kafkajs.logLevel.NOTHING,
    })
    const producer = kafka.producer()
    await producer.connect()
    const timestamp = String(Date.now() - agoMs)
    const messages = eventsOf(source, 20).map((event, index) => ({
      ...{ key: `user-${index}`, value: this.installation.codec.encode(event), timestamp },
    }))
    await producer.send({ topic: this.installation.topics.events, messages })
    await producer.disconnect()
  }

  /**
   * Makes the dead-letter topic reject records. Then events that get a 500 stay in the retry topic,
   * and those that get a 401 in the events topic.
   */
  async block(): Promise<void> {
    await this.#admin.setTopicConfig(this.installation.topics.deadLetter, { 'max.message.bytes': '10' })
    await Promise.all([this.installation.send(eventsOf('failing', 4)), this.mirror('refusing')])
  }

  async unblock(): Promise<void> {
    await this.#admin.setTopicConfig(this.installation.topics.deadLetter, {})
  }

  async letPass(): Promise<void> {
    this.#members = startMemberChurn(this.installation.topics.audiencesGroup, this.installation.topics.audienceInput)
  }

  async letNonePass(): Promise<void> {
    await this.#members?.stop()
  }

  async close(): Promise<void> {
    await this.#members?.stop()
    await this.installation.close()
    await this.#admin.close()
    await Promise.all(Object.values(this.#parts).map((endpoint: ChangingEndpoint) => endpoint.close()))
  }
}

const eventsOf = (source: keyof Parts, count: number): readonly Event[] =>
  trackEvents(count, `${source}-${performance.now()}`).map(event => ({ ...event, sourceId: source }))

const faults: readonly Fault<Backlog>[] = [
  {
    cause: 'the events topic gets records that are four days old',
    cure: 'these records are delivered',
    alerts: { HooklineFirstAttemptsLateFast: {}, HooklineFirstAttemptsLateSlow: {} },
    begin: backlog => backlog.mirror('well'),
    end: async () => undefined,
  },
  {
    cause: 'the dead-letter topic rejects records',
    cure: 'the topic accepts records again',
    alerts: {
      HooklineTopicUnwritable: {},
      HooklineNotReady: { check: 'topics' },
      HooklinePartitionStalled: {},
      HooklineRetentionRisk: {},
      HooklineRetriesOverdue: { tier: '1s' },
    },
    begin: backlog => backlog.block(),
    end: backlog => backlog.unblock(),
  },
  {
    cause: 'the configuration file is truncated',
    cure: 'the file is complete again',
    alerts: { HooklineConfigRefused: {} },
    begin: ({ installation }) => writeFile(installation.configFile, '{ "kafka": '),
    end: backlog => backlog.configure(),
  },
  {
    cause: 'members join and leave a consumer group repeatedly',
    cure: 'members no longer join and leave',
    alerts: { HooklineRebalanceStorm: { group: 'audiences' } },
    begin: backlog => backlog.letPass(),
    end: backlog => backlog.letNonePass(),
  },
]

const badDirectory: Fault<Backlog> = {
  cause: 'a file of destinationsFrom is invalid',
  cure: 'destinationsFrom is removed',
  alerts: { HooklineDestinationsExcluded: {} },
  begin: backlog => backlog.addBadFile(),
  end: backlog => backlog.configure(),
}

/** The faults of topics, of configuration files and of a consumer group. */
export const backlog: Installation<Backlog> = {
  job,
  // `faults` and `badDirectory` both change the configuration file, so they are in different
  // rounds.
  rounds: [faults, [badDirectory]],
  open: prometheus => Backlog.started(prometheus),
}
