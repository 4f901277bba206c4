import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../support/kafka/admin.ts'
import { accelerate } from '../support/prometheus/accelerated-rules.ts'
import { shownPanels } from '../support/prometheus/dashboards.ts'
import { alerts, nameOf, recordings } from '../support/prometheus/rules.ts'
import { type LivePrometheus, startPrometheus } from '../support/prometheus/server.ts'
import { type ObservedService, startObserved } from '../support/prometheus/service-with-every-metric.ts'

/** Time limit in ms, after which the test lists the queries without data. */
const patienceMs = 120_000
/** In ms: 10 s until a condition becomes true, plus the longest `for` of the accelerated rules. */
const watchedMs = 1_000 * (10 + Math.max(...alerts.map(rule => Number.parseInt(accelerate(rule).for ?? '0', 10))))
/**
 * An alert that fires without a fault, because the service reads the ledger less often than the
 * accelerated rule expects.
 */
const ledgerAlert = 'HooklineLedgerDifference'

let observed: ObservedService
let prometheus: LivePrometheus

beforeAll(async () => {
  observed = await startObserved()
  prometheus = await startPrometheus()
  await prometheus.scrape({ instance: 'observed', job: 'hookline', address: observed.target })
})
afterAll(async () => {
  await prometheus?.close()
  await observed?.close()
})

const filledIn = (expr: string): string => expr.replaceAll('$__rate_interval', '10s').replaceAll(/\$[a-z]+/g, '.*')

async function firing(): Promise<readonly string[]> {
  const active = await prometheus.active()
  const names = active.filter(({ state }) => state === 'firing').map(({ labels }) => labels['alertname'] ?? '')
  return names.filter(name => name !== ledgerAlert)
}

/** Sends messages once per scrape until `look` returns a result. */
async function underLoad(look: () => Promise<true | undefined>, load = observed.load): Promise<void> {
  let isFound = false
  const found = until(look).then(() => {
    isFound = true
  })
  for (let before = 0; !isFound; ) {
    await load()
    before = await until(async () => {
      const [scrape] = await prometheus.query('timestamp(up)')
      return scrape !== undefined && (isFound || scrape.value > before) ? scrape.value : undefined
    })
  }
  await found
}

interface Asked {
  readonly name: string
  readonly expr: string
}

/** Returns the expressions whose result has no series or only NaN. */
async function without(asked: readonly Asked[]): Promise<readonly Asked[]> {
  const empty: Asked[] = []
  for (const each of asked) {
    const samples = await prometheus.query(filledIn(each.expr))
    if (!samples.some(({ value }) => Number.isFinite(value))) empty.push(each)
  }
  return empty
}

describe('a real Prometheus that scrapes the real service', () => {
  it('fires no alert without a fault', async () => {
    await until(async () => ((await prometheus.query('hookline_build_info')).length > 0 ? true : undefined))
    // `HooklineDown` may fire before the first scrape, so wait until no alert fires.
    await until(async () => ((await firing()).length === 0 ? true : undefined))
    const endAt = Date.now() + watchedMs
    const fired = new Set<string>()
    await underLoad(async () => {
      for (const alert of await firing()) fired.add(alert)
      return Date.now() > endAt || undefined
    }, observed.loadWithoutFault)
    expect([...fired]).toEqual([])
  })

  it('has data for every query of every dashboard and for every recording rule', async () => {
    const queries = [
      ...shownPanels.flatMap(({ name, panel }) =>
        (panel.targets ?? []).map(({ expr }) => ({ name: `${name}: ${expr}`, expr })),
      ),
      ...recordings.map(rule => ({ name: nameOf(rule), expr: nameOf(rule) })),
    ]
    const giveUpAt = Date.now() + patienceMs
    // The queries never all have data at the same time, so each is repeated until it had data once.
    let waiting: readonly Asked[] = queries
    await underLoad(async () => {
      waiting = await without(waiting)
      return waiting.length === 0 || Date.now() > giveUpAt || undefined
    })
    expect(waiting.map(({ name }) => name)).toEqual([])
  })
})
