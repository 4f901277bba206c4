import { setTimeout as pause } from 'node:timers/promises'
import { Conditions } from '../awaited-conditions.ts'
import { accelerate } from './accelerated-rules.ts'
import { alerts, nameOf } from './rules.ts'
import type { ActiveAlert, LivePrometheus } from './server.ts'

/** The name and labels that identify an alert. */
export interface Sought {
  readonly alert: string
  /** The label `job` of the processes of the installation. */
  readonly job: string
  readonly labels: Readonly<Record<string, string>>
}

const askEveryMs = 250
/** In ms. On an idle machine, the slowest alert takes 80 s. */
const patienceMs = 300_000
/**
 * Finds the jobs that were up for 6 s. Only their alerts can count as resolved, because an alert
 * also stops firing when its target is missing.
 */
const jobsSeen = 'max by (job) (min_over_time(up[6s])) == 1'

/** Polls the alerts of a Prometheus server for all waiting tests. */
export class AlertWatch {
  readonly #prometheus: LivePrometheus
  readonly #conditions = new Conditions()
  readonly #over = new AbortController()
  readonly #watching: Promise<void>
  #active: readonly ActiveAlert[] = []
  #seen: ReadonlySet<string> = new Set()

  constructor(prometheus: LivePrometheus) {
    this.#prometheus = prometheus
    this.#watching = this.#watch()
    this.#watching.catch(() => undefined)
  }

  /**
   * Resolves when Prometheus scrapes the installation's processes. An increase of a counter before
   * the first scrape cannot make an alert fire.
   */
  async untilSeen(job: string): Promise<void> {
    await Promise.race([this.#conditions.until(() => this.#seen.has(job)), this.#watching])
  }

  fires(sought: Sought): boolean {
    return this.#active.some(active => active.state === 'firing' && isSought(active, sought))
  }

  /**
   * Resolves when the alert fires. Rejects after the time limit. The error lists the active alerts
   * of the same name.
   */
  async untilFires(sought: Sought): Promise<void> {
    await this.#until(() => this.fires(sought), sought, 'does not fire')
  }

  async untilClear(sought: Sought): Promise<void> {
    await this.#until(() => this.#seen.has(sought.job) && !this.fires(sought), sought, 'does not clear')
  }

  /** Ends the polling. Rejects with the error of the polling if it has failed. */
  async close(): Promise<void> {
    this.#over.abort()
    await this.#watching
  }

  async #until(condition: () => boolean, sought: Sought, complaint: string): Promise<void> {
    const over = new AbortController()
    const limit = pause(patienceMs, 'late' as const, { signal: over.signal }).catch(() => undefined)
    const late = await Promise.race([this.#conditions.until(condition), this.#watching, limit])
    over.abort()
    if (late === 'late') throw new Error(await this.#report(sought, complaint))
  }

  async #watch(): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      const [active, seen] = await Promise.all([this.#prometheus.active(), this.#prometheus.query(jobsSeen)])
      this.#active = active
      this.#seen = new Set(seen.map(({ labels }) => labels['job'] ?? ''))
      this.#conditions.changed()
      await pause(askEveryMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async #report({ alert, job, labels }: Sought, complaint: string): Promise<string> {
    const rule = alerts.find(each => nameOf(each) === alert)
    const expr = rule === undefined ? '' : accelerate(rule).expr
    const active = this.#active.filter(each => each.labels['alertname'] === alert)
    return [
      `${alert} of ${job} ${JSON.stringify(labels)} ${complaint} within ${patienceMs / 1000} s.`,
      `active: ${JSON.stringify(active.map(({ state, value, labels }) => ({ state, value, labels })))}`,
      `${expr}: ${JSON.stringify(await this.#prometheus.query(expr))}`,
    ].join('\n')
  }
}

function isSought(active: ActiveAlert, { alert, job, labels }: Sought): boolean {
  if (active.labels['alertname'] !== alert || active.labels['job'] !== job) return false
  return Object.entries(labels).every(([name, value]) => active.labels[name] === value)
}
