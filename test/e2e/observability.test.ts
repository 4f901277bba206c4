import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../support/kafka/admin.ts'
import { shownPanels } from '../support/prometheus/dashboards.ts'
import { nameOf, recordings } from '../support/prometheus/rules.ts'
import { type LivePrometheus, startPrometheus } from '../support/prometheus/server.ts'
import { type ObservedService, startObserved } from '../support/prometheus/service-with-every-metric.ts'

/** Time limit in ms, after which the test lists the queries that still have no data. */
const patienceMs = 45_000

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

/** Replaces the variables of Grafana in an expression. */
const filledIn = (expr: string): string => expr.replaceAll('$__rate_interval', '10s').replaceAll(/\$[a-z]+/g, '.*')

/** Sends messages once per scrape until `look` returns a result. */
async function underLoad(look: () => Promise<true | undefined>): Promise<void> {
  let isFound = false
  const found = until(look).then(() => {
    isFound = true
  })
  for (let before = 0; !isFound; ) {
    await observed.load()
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

/** Returns the expressions without data. Their result has no series or only NaN. */
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
    await until(async () => ((await prometheus.active()).every(({ state }) => state !== 'firing') ? true : undefined))
  })

  it('has data for every query of every dashboard and for every recording rule', async () => {
    const queries = [
      ...shownPanels.flatMap(({ name, panel }) =>
        (panel.targets ?? []).map(({ expr }) => ({ name: `${name}: ${expr}`, expr })),
      ),
      ...recordings.map(rule => ({ name: nameOf(rule), expr: nameOf(rule) })),
    ]
    const giveUpAt = Date.now() + patienceMs
    // Each query must have data at some time, but not all at the same time. For example, an open
    // circuit breaker closes before other series exist.
    let waiting: readonly Asked[] = queries
    await underLoad(async () => {
      waiting = await without(waiting)
      return waiting.length === 0 || Date.now() > giveUpAt || undefined
    })
    expect(waiting.map(({ name }) => name)).toEqual([])
  })
})
