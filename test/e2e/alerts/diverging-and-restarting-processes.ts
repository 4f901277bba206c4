import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { until } from '../../support/kafka/admin.ts'
import { type Load, startLoad } from '../../support/process/repeated-load.ts'
import {
  type ConfigurationOverrides,
  startInstallation,
  type TestInstallation,
} from '../../support/process/test-installation.ts'
import { type LivePrometheus, opsOf } from '../../support/prometheus/server.ts'
import type { Fault, Installation } from './run-faults-and-await-alerts.ts'

const job = 'fleet'

const configuration = (userAgent: string): ConfigurationOverrides => ({ payload: { userAgent } })
// biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration replaces it with the variable.
const fromEnvironment = '${TEST_AGENT:-Hookline}'

class Fleet {
  readonly #installation: TestInstallation
  readonly #prometheus: LivePrometheus
  readonly #services: RunningService[] = []
  readonly #restarts: Load[] = []

  private constructor(installation: TestInstallation, prometheus: LivePrometheus) {
    this.#installation = installation
    this.#prometheus = prometheus
  }

  static async started(prometheus: LivePrometheus): Promise<Fleet> {
    const fleet = new Fleet(await startInstallation(configuration(fromEnvironment)), prometheus)
    await Promise.all([fleet.#start(0), fleet.#start(1)])
    return fleet
  }

  /** Restarts the second process with another environment. */
  async diverge(): Promise<void> {
    await this.#services[1]?.stop()
    await this.#start(1, { TEST_AGENT: 'Another' })
  }

  /**
   * Gives both processes the same settings, with a fixed value instead of the environment variable.
   */
  async agree(): Promise<void> {
    await this.#installation.configure(configuration('Hookline'))
  }

  /**
   * Kills and restarts both processes repeatedly. With only one process, restarts would be too rare
   * for the alert on a slow machine.
   */
  async keepRestarting(): Promise<void> {
    for (const index of [0, 1]) this.#restarts.push(startLoad(() => this.#dieAndComeBack(index)))
  }

  async stayUp(): Promise<void> {
    await Promise.all(this.#restarts.splice(0).map(restarts => restarts.stop()))
  }

  async close(): Promise<void> {
    await this.stayUp()
    await this.#installation.close()
  }

  async #dieAndComeBack(index: number): Promise<void> {
    await this.#services[index]?.kill()
    await this.#start(index)
    await this.#isScraped(index)
  }

  async #start(index: number, env: NodeJS.ProcessEnv = {}): Promise<void> {
    const service = await this.#installation.run(env)
    this.#services[index] = service
    await this.#prometheus.scrape({ instance: `${job}-${index}`, job, address: opsOf(service) })
  }

  /**
   * Waits until Prometheus has scraped the current process. A restart between two scrapes would not
   * be counted.
   */
  async #isScraped(index: number): Promise<void> {
    const name = 'process_start_time_seconds'
    const startedAt = (await this.#services[index]?.metrics())?.get(name)
    await until(async () => {
      const [seen] = await this.#prometheus.query(`${name}{instance="${job}-${index}"}`)
      return seen !== undefined && seen.value === startedAt ? true : undefined
    })
  }
}

/** An installation with two processes that share one configuration file. */
export const fleet: Installation<Fleet> = {
  job,
  rounds: [
    [
      {
        cause: 'two processes have different environments',
        cure: 'the configuration no longer uses the environment',
        alerts: { HooklineConfigDiverges: {} },
        begin: fleet => fleet.diverge(),
        end: fleet => fleet.agree(),
      },
    ],
    [
      {
        cause: 'processes are killed repeatedly, as soon as they run',
        cure: 'the processes keep running',
        alerts: { HooklineRestarting: {} },
        begin: fleet => fleet.keepRestarting(),
        end: fleet => fleet.stayUp(),
      },
    ],
  ] satisfies readonly (readonly Fault<Fleet>[])[],
  open: prometheus => Fleet.started(prometheus),
}
