import { describe, expect, it } from '@jest/globals'
import { createMetrics, type MetricsRegistry } from '../../../../src/adapters/metrics/metrics.ts'
import { overflowVariants } from '../../../../src/adapters/metrics/series-budget.ts'
import { outcomes } from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { seriesBudget } from '../../../../src/core/metrics/metric-spec-builders.ts'

/** The values of the series of one metric, by `{labels}`. */
async function seriesOf({ text }: MetricsRegistry, name: string): Promise<ReadonlyMap<string, number>> {
  const lines = (await text()).split('\n').filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  return new Map(
    lines.map(line => [line.slice(name.length, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

const sum = (series: ReadonlyMap<string, number>): number => [...series.values()].reduce((a, b) => a + b, 0)

describe('label values overflow from the last label on', () => {
  it('replaces the webhook first, then the destination, never the others', () => {
    expect(overflowVariants({ destination: 'crm', webhook: '0', outcome: 'dns' }, ['destination', 'webhook'])).toEqual([
      { destination: 'crm', webhook: '0', outcome: 'dns' },
      { destination: 'crm', webhook: '_other', outcome: 'dns' },
      { destination: '_other', webhook: '_other', outcome: 'dns' },
    ])
  })
})

describe('a thousand destinations of five webhooks, with every outcome', () => {
  const registry = createMetrics()
  const { metrics } = registry
  const ids = Array.from({ length: 1_000 }, (_, index) => `destination-${index}`)
  for (const destination of ids) {
    metrics.deliveries.inc({ destination, result: 'delivered' })
    metrics.breakersOpen.set({ destination }, 1)
    for (const webhook of ['0', '1', '2', '3', '4'])
      for (const outcome of outcomes) metrics.webhookCalls.inc({ destination, webhook, outcome })
  }
  const calls = ids.length * 5 * outcomes.length

  it('stay within the budget', async () => {
    const lines = (await registry.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
    expect(lines.length).toBeLessThanOrEqual(seriesBudget.target)
    expect(lines.length).toBeGreaterThan(seriesBudget.maxOverflowing)
  })

  it('count each request once, also under folded labels', async () => {
    expect(sum(await seriesOf(registry, 'hookline_webhook_calls_total'))).toBe(calls)
    expect(sum(await seriesOf(registry, 'hookline_deliveries_total'))).toBe(ids.length)
  })

  it('keep the first series, then fold the webhook, then the destination', async () => {
    const series = [...(await seriesOf(registry, 'hookline_webhook_calls_total')).keys()]
    const under = (destination: string, webhook: string): number =>
      series.filter(labels => labels.includes(`destination="${destination}",webhook="${webhook}"`)).length
    expect(under('destination-0', '4')).toBe(outcomes.length)
    expect(under('destination-0', '_other')).toBe(0)
    expect(under('destination-100', '_other')).toBe(outcomes.length)
    expect(under('destination-100', '0')).toBe(0)
    expect(under('destination-999', '_other')).toBe(0)
    expect(under('_other', '_other')).toBe(outcomes.length)
  })

  it('show the number of folded label sets and of series', async () => {
    const folded = (await seriesOf(registry, 'hookline_metrics_series_folded_total')).get('') ?? 0
    expect(folded).toBeGreaterThan(calls / 2)
    const shown = (await seriesOf(registry, 'hookline_metrics_series')).get('') ?? 0
    expect(shown).toBeGreaterThanOrEqual(seriesBudget.maxOverflowing)
    expect(shown).toBeLessThanOrEqual(seriesBudget.target)
  })

  it('does not show a gauge over the limit, because a sum of states has no meaning', async () => {
    const series = [...(await seriesOf(registry, 'hookline_breaker_open')).keys()]
    expect(series).toContain('{destination="destination-0"}')
    expect(series).not.toContain('{destination="destination-999"}')
    expect(series).not.toContain('{destination="_other"}')
  })

  it('do not count series by Kafka partition', async () => {
    metrics.consumerLag.set({ topic: 'events', partition: '0' }, 5)
    expect((await seriesOf(registry, 'hookline_consumer_lag_records')).size).toBe(1)
  })
})

describe('a gauge whose label sets may disappear', () => {
  it('shows only values that were set since the last reset', async () => {
    const registry = createMetrics()
    registry.metrics.consumerLag.set({ topic: 'events', partition: '0' }, 5)
    registry.metrics.consumerLag.reset()
    registry.metrics.consumerLag.set({ topic: 'events', partition: '1' }, 7)
    expect([...(await seriesOf(registry, 'hookline_consumer_lag_records'))]).toEqual([
      ['{topic="events",partition="1"}', 7],
    ])
  })
})

describe('a gauge by destination that is reset before each reading', () => {
  /**
   * Sets the gauge for these destinations only, as a service does before each reading of the
   * metrics.
   */
  function show({ metrics }: MetricsRegistry, ids: readonly string[]): void {
    metrics.breakersOpen.reset()
    for (const destination of ids) metrics.breakersOpen.set({ destination }, 1)
  }
  const idsFrom = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => `destination-${first + index}`)

  it('gives the series of deleted destinations to new ones', async () => {
    const registry = createMetrics()
    for (let first = 0; first <= 2 * seriesBudget.maxOverflowing; first += 1_000) show(registry, idsFrom(first, 1_000))
    expect((await seriesOf(registry, 'hookline_breaker_open')).size).toBe(1_000)
    expect(await seriesOf(registry, 'hookline_metrics_series')).toEqual(new Map([['', 1_000]]))
    expect(await seriesOf(registry, 'hookline_metrics_series_folded_total')).toEqual(new Map([['', 0]]))
  })

  it('counts a destination above the limit once', async () => {
    const registry = createMetrics()
    const ids = idsFrom(0, seriesBudget.maxOverflowing + 5)
    for (let reading = 0; reading < 3; reading++) show(registry, ids)
    expect(await seriesOf(registry, 'hookline_metrics_series_folded_total')).toEqual(new Map([['', 5]]))
    expect((await seriesOf(registry, 'hookline_breaker_open')).size).toBe(seriesBudget.maxOverflowing)
  })
})

describe('series that exist from the start at 0', () => {
  it.each([
    { name: 'hookline_drops_total', series: 6, why: 'all values of its label are known' },
    { name: 'hookline_commits_total', series: 6, why: 'all values of both labels are known' },
    { name: 'hookline_deliveries_total', series: 0, why: 'destinations are not known' },
    { name: 'hookline_audience_inputs_total', series: 0, why: 'they would be a hundred' },
  ])('$name: $series, since $why', async ({ name, series }) => {
    const shown = await seriesOf(createMetrics(), name)
    expect(shown.size).toBe(series)
    expect(sum(shown)).toBe(0)
  })
})
