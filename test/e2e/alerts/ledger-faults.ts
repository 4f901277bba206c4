import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { durationMs } from '../../../src/core/time.ts'
import { createAdminClient, until } from '../../support/kafka/admin.ts'
import { startInstallation, type TestInstallation, trackEvents } from '../../support/process/test-installation.ts'
import { type LivePrometheus, opsOf } from '../../support/prometheus/server.ts'
import { testSecret } from '../../support/secret-scan/make-and-find-test-secrets.ts'
import { ChangingEndpoint } from '../../support/webhook/changing-endpoint.ts'
import type { Fault, Installation } from './run-faults-and-await-alerts.ts'

const job = 'ledger'
const partitions = [0, 1, 2, 3]
/** The retry wait: failed deliveries stay in the retry topic during the test. */
const wait = durationMs(3_600_000)
/**
 * Disabled destinations with long ids: the ledger counts of one event do not fit into the metadata
 * of a commit.
 */
const crowd = Array.from({ length: 60 }, (_, index) => ({
  ...{ id: `disabled-${index}-`.padEnd(63, 'x'), sources: ['web'], enabled: false },
  webhooks: [{ url: 'http://127.0.0.1/' }],
}))

/** A process with an operator service, which reads the ledger. */
class Ledger {
  readonly #endpoint: ChangingEndpoint
  readonly #installation: TestInstallation
  readonly #prometheus: LivePrometheus
  #service: RunningService | undefined

  private constructor(endpoint: ChangingEndpoint, installation: TestInstallation, prometheus: LivePrometheus) {
    this.#endpoint = endpoint
    this.#installation = installation
    this.#prometheus = prometheus
  }

  static async started(prometheus: LivePrometheus): Promise<Ledger> {
    const endpoint = await ChangingEndpoint.started()
    const installation = await startInstallation({
      delivery: { schedule: ['1h'] },
      operator: { listen: '127.0.0.1:0', keys: [{ name: 'ada', role: 'operate', key: testSecret('ledger-key') }] },
      destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: endpoint.url }] }, ...crowd],
    })
    const ledger = new Ledger(endpoint, installation, prometheus)
    await ledger.#start()
    return ledger
  }

  async loseRetries(): Promise<void> {
    const { topics } = this.#installation
    this.#endpoint.status = 503
    await this.#installation.send(trackEvents(5))
    await until(async () => ((await this.#installation.read(topics.retry(wait))).length === 5 ? true : undefined))
    await this.#service?.stop()
    await this.#asAdmin(admin => admin.deleteRecords(topics.retry(wait), partitions))
    await this.#start()
  }

  /**
   * Deletes the consumer groups with their committed offsets. The metadata of these offsets
   * contains the counts of the ledger, so the counts begin again.
   */
  async beginAgain(): Promise<void> {
    const { topics } = this.#installation
    this.#endpoint.status = 200
    await this.#service?.stop()
    await this.#asAdmin(admin => admin.deleteGroups([topics.dispatcherGroup, topics.retriesGroup]))
    await this.#start()
  }

  /**
   * Makes the ledger topic refuse all records, and sends events whose counts need ledger records.
   */
  async refuseCounts(): Promise<void> {
    await this.#asAdmin(admin => admin.setTopicConfig(this.#installation.topics.ledger, { 'max.message.bytes': '10' }))
    await this.#installation.send(trackEvents(20, 'gap'))
  }

  async acceptCounts(): Promise<void> {
    await this.#asAdmin(admin => admin.setTopicConfig(this.#installation.topics.ledger, {}))
  }

  async close(): Promise<void> {
    await this.#installation.close()
    await this.#endpoint.close()
  }

  async #start(): Promise<void> {
    this.#service = await this.#installation.run()
    await this.#prometheus.scrape({ instance: job, job, address: opsOf(this.#service) })
  }

  async #asAdmin(deed: (admin: Awaited<ReturnType<typeof createAdminClient>>) => Promise<void>): Promise<void> {
    const admin = await createAdminClient()
    try {
      await deed(admin)
    } finally {
      await admin.close()
    }
  }
}

const lost: Fault<Ledger> = {
  cause: 'records of a retry topic are deleted while no process runs',
  cure: 'the counts begin again',
  alerts: { HooklineLedgerDifference: {} },
  begin: ledger => ledger.loseRetries(),
  end: ledger => ledger.beginAgain(),
}

const unwritable: Fault<Ledger> = {
  cause: 'the ledger topic rejects records',
  cure: 'no counts were discarded for an hour',
  alerts: { HooklineLedgerGaps: {} },
  begin: ledger => ledger.refuseCounts(),
  end: ledger => ledger.acceptCounts(),
}

/** An installation that loses deliveries, and later cannot store the counts of the ledger. */
export const ledger: Installation<Ledger> = {
  job,
  rounds: [[lost], [unwritable]],
  open: prometheus => Ledger.started(prometheus),
}
