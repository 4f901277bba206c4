import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Broker, type BrokerOptions, startBroker } from '../../../deploy/tools/local/broker.ts'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { type AdminClient, createAdminClient } from '../../support/kafka/admin.ts'
import { type Load, startLoad } from '../../support/process/repeated-load.ts'
import {
  startInstallation,
  type TestInstallation,
  trackEvents,
  webKey,
} from '../../support/process/test-installation.ts'
import { type LivePrometheus, opsOf } from '../../support/prometheus/server.ts'
import { ChangingEndpoint } from '../../support/webhook/changing-endpoint.ts'
import type { Fault, Installation } from './run-faults-and-await-alerts.ts'

const job = 'outage'
const partitions = [0, 1, 2, 3]
const offsetsTopic = '__consumer_offsets'
/**
 * The original configuration of `__consumer_offsets`. Each change replaces all settings of a topic,
 * so it must repeat these ones.
 */
const offsetsConfig = { 'cleanup.policy': 'compact' }
const setsClock = new URL('shift-clock-preload.mjs', import.meta.url).href
/** How far the clock jumps, in ms, as after a pause of a virtual machine. */
const pauseMs = 600_000

/** One process with its own broker, so that a fault can affect all of Kafka. */
class Outage {
  readonly endpoint: ChangingEndpoint
  readonly installation: TestInstallation
  readonly #place: BrokerOptions
  readonly #prometheus: LivePrometheus
  #broker: Broker
  #service: RunningService | undefined
  #load: Load | undefined

  private constructor(parts: Pick<Outage, 'endpoint' | 'installation'> & OutageParts) {
    this.endpoint = parts.endpoint
    this.installation = parts.installation
    this.#place = parts.place
    this.#prometheus = parts.prometheus
    this.#broker = parts.broker
  }

  static async started(prometheus: LivePrometheus): Promise<Outage> {
    const place = { dataDir: await mkdtemp(join(tmpdir(), 'hookline-outage-')), port: await freePorts(2) }
    const broker = await startBroker(place)
    const endpoint = await ChangingEndpoint.started()
    const destinations = [{ id: 'crm', sources: ['web'], webhooks: [{ url: endpoint.url }] }]
    const installation = await startInstallation({ delivery: { maxInFlight: 4 }, destinations }, broker.address)
    const outage = new Outage({ endpoint, installation, place, prometheus, broker })
    await outage.start()
    outage.#load = startLoad(() => outage.#round())
    await endpoint.delivers(20)
    return outage
  }

  async start(): Promise<void> {
    this.#service = await this.installation.run({
      NODE_OPTIONS: `--import=${setsClock}`,
      CLOCK_AHEAD_FILE: this.#clockFile,
    })
    await this.#prometheus.scrape({ instance: job, job, address: opsOf(this.#service) })
  }

  async stop(): Promise<void> {
    await this.#service?.stop()
  }

  async kill(): Promise<void> {
    await this.#service?.kill()
  }

  /**
   * Sets the wall clock of the Hookline process, and of processes that start later, `aheadMs`
   * ahead.
   */
  async setClock(aheadMs: number): Promise<void> {
    await writeFile(this.#clockFile, String(aheadMs))
  }

  async stopBroker(): Promise<void> {
    await this.#broker.stop()
  }

  async startBroker(): Promise<void> {
    this.#broker = await startBroker(this.#place)
  }

  async loseRecords(): Promise<void> {
    await this.installation.send(trackEvents(20, 'lost'))
    await this.#asAdmin(admin => admin.deleteRecords(this.installation.topics.events, partitions))
  }

  async configure(topic: string, config: Readonly<Record<string, string>>): Promise<void> {
    await this.#asAdmin(admin => admin.setTopicConfig(topic, config))
  }

  async close(): Promise<void> {
    await this.#load?.stop()
    await this.installation.close()
    await this.endpoint.close()
    await this.#broker.stop()
    await rm(this.#place.dataDir, { recursive: true, force: true })
  }

  get #clockFile(): string {
    return join(dirname(this.installation.configFile), 'clock-ahead')
  }

  /**
   * Writes events and sends requests without waiting for them, because they can fail or hang during
   * a fault.
   */
  async #round(): Promise<void> {
    void this.installation.send(trackEvents(5, `m-${performance.now()}`)).catch(() => undefined)
    for (let count = 0; count < 3; count++) void post(`${this.#service?.collector}/v1/track`).catch(() => undefined)
  }

  async #asAdmin(deed: (admin: AdminClient) => Promise<void>): Promise<void> {
    const admin = await createAdminClient(this.#broker.address)
    try {
      await deed(admin)
    } finally {
      await admin.close()
    }
  }
}

interface OutageParts {
  readonly place: BrokerOptions
  readonly prometheus: LivePrometheus
  readonly broker: Broker
}

async function post(url: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-write-key': webKey }
  const body = JSON.stringify({ type: 'track', userId: 'u', event: 'Signed up' })
  await (await fetch(url, { method: 'POST', headers, body })).arrayBuffer()
}

const faults = {
  down: {
    cause: 'the only process is killed',
    cure: 'the process is started again',
    alerts: { HooklineDown: {} },
    begin: outage => outage.kill(),
    end: outage => outage.start(),
  },
  lost: {
    cause: 'records are deleted while no process runs',
    cure: 'the process continues with the records that are left',
    alerts: { HooklineRecordsLost: {} },
    isShort: true,
    async begin(outage) {
      await outage.stop()
      await outage.loseRecords()
      await outage.start()
    },
    end: async () => undefined,
  },
  slow: {
    cause: 'requests take two seconds, and more are due than there are permits',
    cure: 'the endpoint responds immediately',
    alerts: { HooklineCallsSaturated: {} },
    async begin({ endpoint }) {
      endpoint.latencyMs = 2_000
    },
    async end({ endpoint }) {
      endpoint.latencyMs = 0
    },
  },
  commits: {
    cause: 'the topic of committed offsets rejects records',
    cure: 'the topic accepts records again',
    alerts: { HooklineCommitsRefused: { group: 'dispatcher' } },
    begin: outage => outage.configure(offsetsTopic, { ...offsetsConfig, 'max.message.bytes': '10' }),
    end: outage => outage.configure(offsetsTopic, offsetsConfig),
  },
  broker: {
    cause: 'the only broker is stopped',
    cure: 'the broker is started again',
    alerts: { HooklineCollectorUnavailable: {}, HooklineNoPartitions: { group: 'dispatcher' } },
    begin: outage => outage.stopBroker(),
    end: outage => outage.startBroker(),
  },
  clock: {
    cause: 'the clock of the machine is ten minutes ahead of the brokers',
    cure: 'the clock is corrected',
    alerts: { HooklineClockOff: {} },
    begin: outage => outage.setClock(pauseMs),
    end: outage => outage.setClock(0),
  },
} satisfies Record<string, Fault<Outage>>

/** The faults of a whole process or of all of Kafka. */
export const outage: Installation<Outage> = {
  job,
  rounds: [[faults.down], [faults.lost], [faults.slow, faults.commits], [faults.broker], [faults.clock]],
  open: prometheus => Outage.started(prometheus),
}
