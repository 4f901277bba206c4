import type { AlertWatch, Sought } from '../../support/prometheus/alert-watch.ts'
import type { LivePrometheus } from '../../support/prometheus/server.ts'

/** Something that goes wrong at an installation, and what must be heard of it. */
export interface Fault<Site> {
  readonly cause: string
  readonly cure: string
  /** By name; with labels that tell what is meant, where more than one of that name may fire. */
  readonly alerts: Readonly<Record<string, Readonly<Record<string, string>>>>
  begin(site: Site): Promise<void>
  end(site: Site): Promise<void>
}

/** An installation with its faults. */
export interface Installation<Site extends { close(): Promise<void> }> {
  /** By which Prometheus tells it from the others. */
  readonly job: string
  /** What is in one round goes wrong at once; the next one begins when all of it is over. */
  readonly rounds: readonly (readonly Fault<Site>[])[]
  /** Starts it, well, and has it scraped. */
  open(prometheus: LivePrometheus): Promise<Site>
}

/** When an alert has done what it has to; rejected when it does not. */
interface Outcome {
  readonly fired: PromiseWithResolvers<void>
  readonly cleared: PromiseWithResolvers<void>
}

/** What a test waits for, of each alert by its name. */
export class Outcomes {
  readonly #outcomes: ReadonlyMap<string, Outcome>

  constructor(alerts: readonly string[]) {
    this.#outcomes = new Map(
      alerts.map(alert => [alert, { fired: Promise.withResolvers<void>(), cleared: Promise.withResolvers<void>() }]),
    )
    // Some fail long before their test asks for them.
    for (const { fired, cleared } of this.#outcomes.values())
      for (const { promise } of [fired, cleared]) promise.catch(() => undefined)
  }

  of(alert: string): Outcome {
    const outcome = this.#outcomes.get(alert)
    if (outcome === undefined) throw new Error(`nothing is scripted for ${alert}`)
    return outcome
  }

  /** As the deed ends. What has not fired has not cleared either. */
  async settle(alert: string, what: keyof Outcome, deed: Promise<void>): Promise<void> {
    await deed.then(this.of(alert)[what].resolve, error => this.fail([alert], error))
  }

  /** What has not ended by now never will. */
  fail(alerts: readonly string[], error: unknown): void {
    for (const { fired, cleared } of alerts.map(alert => this.of(alert)))
      for (const { reject } of [fired, cleared]) reject(error)
  }
}

export interface Stage {
  readonly prometheus: LivePrometheus
  readonly watch: AlertWatch
  readonly outcomes: Outcomes
}

/** An installation whose own parts nobody else needs to know. */
export interface Play {
  readonly faults: readonly Pick<Fault<never>, 'cause' | 'cure' | 'alerts'>[]
  /** Starts the installation, lets it suffer all faults, round by round, and ends it. Never rejects: the outcomes say what went wrong. */
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

/** All is quiet; the fault begins; when all that it is to cause has fired it ends, and all of that must clear. */
async function suffer<Site>(fault: Fault<Site>, site: Site, job: string, { watch, outcomes }: Stage): Promise<void> {
  const all: Sought[] = Object.entries(fault.alerts).map(([alert, labels]) => ({ alert, job, labels }))
  try {
    await Promise.all(all.map(each => watch.untilClear(each)))
    await fault.begin(site)
    await Promise.all(all.map(each => outcomes.settle(each.alert, 'fired', watch.untilFires(each))))
    await fault.end(site)
    await Promise.all(all.map(each => outcomes.settle(each.alert, 'cleared', watch.untilClear(each))))
  } catch (error) {
    outcomes.fail(
      all.map(({ alert }) => alert),
      error,
    )
  }
}
