import { setTimeout as pause } from 'node:timers/promises'
import type { AlertWatch, Sought } from '../../support/prometheus/alert-watch.ts'
import type { LivePrometheus } from '../../support/prometheus/server.ts'

/** A fault of an installation, and the alerts that must fire. */
export interface Fault<Site> {
  readonly cause: string
  readonly cure: string
  /** Expected alerts by name, with labels that distinguish alerts of the same name. */
  readonly alerts: Readonly<Record<string, Readonly<Record<string, string>>>>
  /**
   * Whether the alerts fire only for seconds. A busy machine can miss them, so `begin` is repeated
   * until they fire.
   */
  readonly isShort?: boolean
  begin(site: Site): Promise<void>
  end(site: Site): Promise<void>
}

/** An installation and its faults. */
export interface Installation<Site extends { close(): Promise<void> }> {
  /** Job label of the installation in Prometheus. */
  readonly job: string
  /** The faults of one round happen concurrently. The next round starts when they are over. */
  readonly rounds: readonly (readonly Fault<Site>[])[]
  /** Starts the installation without faults, and adds it to Prometheus's targets. */
  open(prometheus: LivePrometheus): Promise<Site>
}

/**
 * The promises for one alert, which resolve when the alert fires or clears, and otherwise reject.
 */
interface Outcome {
  readonly fired: PromiseWithResolvers<void>
  readonly cleared: PromiseWithResolvers<void>
}

/** The promises for each alert, which the tests await. */
export class Outcomes {
  readonly #outcomes: ReadonlyMap<string, Outcome>

  constructor(alerts: readonly string[]) {
    this.#outcomes = new Map(
      alerts.map(alert => [alert, { fired: Promise.withResolvers<void>(), cleared: Promise.withResolvers<void>() }]),
    )
    // Without a handler, a promise that is rejected before its test awaits it would end the
    // process.
    for (const { fired, cleared } of this.#outcomes.values())
      for (const { promise } of [fired, cleared]) promise.catch(() => undefined)
  }

  of(alert: string): Outcome {
    const outcome = this.#outcomes.get(alert)
    if (outcome === undefined) throw new Error(`nothing is scripted for ${alert}`)
    return outcome
  }

  /**
   * Resolves the promise `what` of the alert when `deed` resolves. If `deed` rejects, both promises
   * reject, because an alert that has not fired cannot clear.
   */
  async settle(alert: string, what: keyof Outcome, deed: Promise<void>): Promise<void> {
    await deed.then(this.of(alert)[what].resolve, error => this.fail([alert], error))
  }

  fail(alerts: readonly string[], error: unknown): void {
    for (const { fired, cleared } of alerts.map(alert => this.of(alert)))
      for (const { reject } of [fired, cleared]) reject(error)
  }
}

/** Time after which a short fault that fired no alert is caused again, in ms. */
const beginAgainMs = 40_000

export interface Stage {
  readonly prometheus: LivePrometheus
  readonly watch: AlertWatch
  readonly outcomes: Outcomes
}

/** An installation with its faults, without the type parameter `Site`. */
export interface Play {
  readonly faults: readonly Pick<Fault<never>, 'cause' | 'cure' | 'alerts'>[]
  /**
   * Starts the installation, runs all rounds and stops the installation. Never rejects: an error
   * rejects promises in `outcomes`.
   */
  run(stage: Stage): Promise<void>
}

export function playOf<Site extends { close(): Promise<void> }>({ job, rounds, open }: Installation<Site>): Play {
  const faults = rounds.flat()
  const names = faults.flatMap(({ alerts }) => Object.keys(alerts))
  return {
    faults,
    async run(stage) {
      try {
        const site = await open(stage.prometheus)
        try {
          await stage.watch.untilSeen(job)
          for (const round of rounds) await Promise.all(round.map(fault => suffer(fault, site, job, stage)))
        } finally {
          await site.close()
        }
      } catch (error) {
        stage.outcomes.fail(names, error)
      }
    },
  }
}

/**
 * Waits until none of the fault's alerts fires, and runs the fault until the alerts have cleared.
 */
async function suffer<Site>(fault: Fault<Site>, site: Site, job: string, { watch, outcomes }: Stage): Promise<void> {
  const all: Sought[] = Object.entries(fault.alerts).map(([alert, labels]) => ({ alert, job, labels }))
  try {
    await Promise.all(all.map(each => watch.untilClear(each)))
    const settled = all.map(each => outcomes.settle(each.alert, 'fired', watch.untilFires(each)))
    const fired = Promise.all(settled).then(() => true)
    do await fault.begin(site)
    while (fault.isShort && !(await Promise.race([fired, pause(beginAgainMs, false, { ref: false })])))
    await fired
    await fault.end(site)
    await Promise.all(all.map(each => outcomes.settle(each.alert, 'cleared', watch.untilClear(each))))
  } catch (error) {
    outcomes.fail(
      all.map(({ alert }) => alert),
      error,
    )
  }
}
