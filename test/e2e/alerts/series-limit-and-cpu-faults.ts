import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { until } from '../../support/kafka/admin.ts'
import type { Load } from '../../support/process/repeated-load.ts'
import {
  type ConfigurationOverrides,
  startInstallation,
  type TestInstallation,
  trackEvents,
} from '../../support/process/test-installation.ts'
import { startThrottle } from '../../support/process/throttled-process.ts'
import { type LivePrometheus, opsOf } from '../../support/prometheus/server.ts'
import { ChangingEndpoint } from '../../support/webhook/changing-endpoint.ts'
import type { Fault, Installation } from './run-faults-and-await-alerts.ts'

const job = 'crowded'
/** With five webhooks each, these destinations exceed the series limit of a process. */
const many = 1_300
const few = 2
/**
 * Seconds between scrapes. Not fewer, because the process has many series and, during a later
 * fault, little CPU time.
 */
const every = 5

const configuration = ({ url }: ChangingEndpoint, destinations: number): ConfigurationOverrides => ({
  // All webhooks have the same host, so this host needs many permits.
  delivery: { perHost: 8_192, transport: 'undici' },
  destinations: Array.from({ length: destinations }, (_, destination) => ({
    id: `d${destination}`,
    sources: ['web'],
    webhooks: Array.from({ length: 5 }, (_, webhook) => ({ url: `${url}/${destination}/${webhook}` })),
  })),
})

class Crowded {
  readonly #installation: TestInstallation
  readonly #endpoint: ChangingEndpoint
  readonly #prometheus: LivePrometheus
  #service: RunningService | undefined
  #throttle: Load | undefined

  private constructor(installation: TestInstallation, endpoint: ChangingEndpoint, prometheus: LivePrometheus) {
    this.#installation = installation
    this.#endpoint = endpoint
    this.#prometheus = prometheus
  }

  static async started(prometheus: LivePrometheus): Promise<Crowded> {
    const endpoint = await ChangingEndpoint.started()
    const crowded = new Crowded(await startInstallation(configuration(endpoint, few)), endpoint, prometheus)
    await crowded.#start()
    return crowded
  }

  async crowd(): Promise<void> {
    await this.#installation.configure(configuration(this.#endpoint, many))
    await this.#takenOver(many)
    await this.#installation.send(trackEvents(1))
  }

  /**
   * Removes most destinations. Restarts the process, because series are counted under `_other`
   * until a restart.
   */
  async thin(): Promise<void> {
    await this.#installation.configure(configuration(this.#endpoint, few))
    await this.#service?.stop()
    await this.#start()
  }

  async throttle(): Promise<void> {
    if (this.#service !== undefined) this.#throttle = startThrottle(this.#service.pid)
  }

  async release(): Promise<void> {
    await this.#throttle?.stop()
  }

  async close(): Promise<void> {
    await this.#throttle?.stop()
    await this.#installation.close()
    await this.#endpoint.close()
  }

  async #takenOver(destinations: number): Promise<void> {
    await until(async () => {
      const metrics = await this.#service?.metrics()
      return metrics?.get('hookline_destinations{state="enabled"}') === destinations ? true : undefined
    })
  }

  async #start(): Promise<void> {
    this.#service = await this.#installation.run()
    await this.#prometheus.scrape({ instance: job, job, address: opsOf(this.#service), every })
  }
}

/** The faults of a process with too much work or too many series. */
export const crowded: Installation<Crowded> = {
  job,
  rounds: [
    [
      {
        cause: 'the destinations need more series than a process may have',
        cure: 'most destinations are removed and the process is restarted',
        alerts: { HooklineSeriesFolded: {} },
        begin: crowded => crowded.crowd(),
        end: crowded => crowded.thin(),
      },
    ],
    [
      {
        cause: 'a process runs for only a third of the time',
        cure: 'the process runs all the time',
        alerts: { HooklineEventLoopSaturated: { instance: job } },
        begin: crowded => crowded.throttle(),
        end: crowded => crowded.release(),
      },
    ],
  ] satisfies readonly (readonly Fault<Crowded>[])[],
  open: prometheus => Crowded.started(prometheus),
}
