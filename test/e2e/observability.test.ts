import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { until } from '../support/kafka/admin.ts'
import { type ObservedService, startObserved } from '../support/process/observed-service.ts'
import { shownPanels } from '../support/prometheus/dashboards.ts'
import { nameOf, recordings } from '../support/prometheus/rules.ts'
import { type LivePrometheus, startPrometheus } from '../support/prometheus/server.ts'

/** Then the test says what there is no data for. */
const patienceMs = 45_000

let observed: ObservedService
let prometheus: LivePrometheus

beforeAll(async () => {
  observed = await startObserved()
  prometheus = await startPrometheus()
  await prometheus.scrape({ instance: 'observed', job: 'hookline', address: observed.target })
}, 120_000)
afterAll(async () => {
  await prometheus?.close()
  await observed?.close()
})

/** With what Grafana puts in for its variables. */
const filledIn = (expr: string): string => expr.replaceAll('$__rate_interval', '10s').replaceAll(/\$[a-z]+/g, '.*')

/** A round of load for each scrape, until `look` has found what it looks for. */
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

/** Those of the expressions that have no data: nothing, or nothing that is a number. */
async function without(asked: readonly Asked[]): Promise<readonly Asked[]> {
  const empty: Asked[] = []
  for (const each of asked) {
    const samples = await prometheus.query(filledIn(each.expr))
    if (!samples.some(({ value }) => Number.isFinite(value))) empty.push(each)
  }
  return empty
}

describe('a real Prometheus that scrapes the real service', () => {
  it('fires nothing while all is well', async () => {
    await until(async () => ((await prometheus.query('hookline_build_info')).length > 0 ? true : undefined))
    await until(async () => ((await prometheus.active()).every(({ state }) => state !== 'firing') ? true : undefined))
  }, 30_000)

  it('has data for every query of every dashboard and for every recording rule', async () => {
    const queries = [
      ...shownPanels.flatMap(({ name, panel }) =>
        (panel.targets ?? []).map(({ expr }) => ({ name: `${name}: ${expr}`, expr })),
      ),
      ...recordings.map(rule => ({ name: nameOf(rule), expr: nameOf(rule) })),
    ]
    const giveUpAt = Date.now() + patienceMs
    // Each at some time: what an open breaker ends, for one, is no longer there when other things begin.
    let waiting: readonly Asked[] = queries
    await underLoad(async () => {
      waiting = await without(waiting)
      return waiting.length === 0 || Date.now() > giveUpAt || undefined
    })
    expect(waiting.map(({ name }) => name)).toEqual([])
  }, 90_000)
})
