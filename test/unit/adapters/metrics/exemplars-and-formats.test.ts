import { describe, expect, it } from '@jest/globals'
import { createMetrics } from '../../../../src/adapters/metrics/metrics.ts'
import { openMetricsOf } from '../../../../src/adapters/metrics/prometheus-to-open-metrics.ts'
import { type LabelSet, seriesBudget } from '../../../../src/core/metrics/metric-spec-builders.ts'
import { type Metrics, metricSpecs, type TracedHistogram } from '../../../../src/core/metrics/metrics.ts'
import { contractMetrics } from '../../../support/prometheus/metrics-contract.ts'

const traceId = 'a'.repeat(32)
const other = 'b'.repeat(32)
const registry = () => createMetrics(() => 1_795_248_000_123)
const bucketsOf = (text: string, name: string): string[] =>
  text.split('\n').filter(line => line.startsWith(`${name}_bucket`))
const withExemplar = (text: string): string[] => text.split('\n').filter(line => / # \{/.test(line))
const seriesIn = (text: string): string[] =>
  text
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.replace(/ # \{.*$/, '').replace(/ \S+$/, ''))

describe('an observation', () => {
  it.each([
    [0.02, '0.025'],
    [0.025, '0.025'],
    [0, '0.005'],
    [7, '+Inf'],
  ])('of %d in a sampled trace is an exemplar of the bucket up to %s', async (value, le) => {
    const { metrics, openMetrics } = registry()
    metrics.webhookCallSeconds.observe({}, value, traceId)
    expect(withExemplar(await openMetrics.text())).toEqual([
      `hookline_webhook_call_seconds_bucket{le="${le}"} 1 # {trace_id="${traceId}"} ${value} 1795248000.123`,
    ])
  })

  it('without a sampled trace has no exemplar, and is counted the same', async () => {
    const { metrics, openMetrics } = registry()
    metrics.webhookCallSeconds.observe({}, 0.02)
    metrics.webhookCallSeconds.observe({}, 0.03, undefined)
    const text = await openMetrics.text()
    expect(withExemplar(text)).toEqual([])
    expect(bucketsOf(text, 'hookline_webhook_call_seconds')).toContain(
      'hookline_webhook_call_seconds_bucket{le="0.05"} 2',
    )
  })

  it('replaces the exemplar of its bucket only when it has a trace', async () => {
    const { metrics, openMetrics } = registry()
    metrics.webhookCallSeconds.observe({}, 0.02, traceId)
    metrics.webhookCallSeconds.observe({}, 0.021, other)
    metrics.webhookCallSeconds.observe({}, 0.022)
    metrics.webhookCallSeconds.observe({}, 2, traceId)
    expect(withExemplar(await openMetrics.text())).toEqual([
      `hookline_webhook_call_seconds_bucket{le="0.025"} 3 # {trace_id="${other}"} 0.021 1795248000.123`,
      `hookline_webhook_call_seconds_bucket{le="2"} 4 # {trace_id="${traceId}"} 2 1795248000.123`,
    ])
  })

  it('has exemplars exactly where the contract says so, within the limits of OpenMetrics', async () => {
    const { metrics, openMetrics } = registry()
    for (const [key, { kind }] of Object.entries(metricSpecs))
      if (kind === 'histogram') (metrics[key as keyof Metrics] as TracedHistogram<LabelSet>).observe({}, 0.02, traceId)
    const lines = withExemplar(await openMetrics.text())
    const promised = contractMetrics.filter(({ exemplar }) => exemplar === 'trace_id').map(({ name }) => name)
    expect(promised).toContain('hookline_first_attempt_delay_seconds')
    expect(lines.map(line => line.slice(0, line.indexOf('_bucket{'))).toSorted()).toEqual(promised.toSorted())
    for (const line of lines) {
      const [, name = '', value = ''] = / # \{(\w+)="([^"]*)"\}/.exec(line) ?? []
      expect(name.length + value.length).toBeGreaterThan(32)
      expect(name.length + value.length).toBeLessThanOrEqual(128)
    }
  })
})

describe('both formats', () => {
  it('have the same series under the same names, in any order of scrapes', async () => {
    const { metrics, text, openMetrics } = registry()
    metrics.deliveries.inc({ destination: 'crm', result: 'delivered' })
    metrics.webhookCallSeconds.observe({}, 0.02, traceId)
    const before = await text()
    const [open, between, again] = await Promise.all([openMetrics.text(), text(), openMetrics.text()])
    const series = seriesIn(before)
    expect(series).toContain('hookline_deliveries_total{destination="crm",result="delivered"}')
    expect(series).toContain('process_cpu_seconds_total')
    for (const shown of [open, between, again, await text()]) expect(seriesIn(shown)).toEqual(series)
    expect(between.match(/^# .*$/gm)).toEqual(before.match(/^# .*$/gm))
    expect(before).not.toContain(' # {')
  })

  it('fold the same', async () => {
    const { metrics, text, openMetrics } = registry()
    for (let index = 0; index <= seriesBudget.maxOverflowing; index++)
      metrics.deliveries.inc({ destination: `destination-${index}`, result: 'delivered' })
    const series = seriesIn(await openMetrics.text())
    expect(series).toContain('hookline_deliveries_total{destination="_other",result="delivered"}')
    expect(series).toEqual(seriesIn(await text()))
  })
})

describe('OpenMetrics', () => {
  it('names a counter family without _total and its series with it, and keeps all other names', async () => {
    const heads = [...(await registry().openMetrics.text()).matchAll(/^# TYPE (\S+) (\w+)$/gm)]
    const shape = heads.map(([, name, type]) => `${type} ${name}`)
    const expected = contractMetrics.map(({ name, type }) =>
      type === 'counter' ? `counter ${name.replace(/_total$/, '')}` : `${type} ${name}`,
    )
    expect(shape.toSorted()).toEqual(expected.toSorted())
    for (const { name, type } of contractMetrics) if (type === 'counter') expect(name).toMatch(/_total$/)
  })

  it('has no empty line, and ends with one # EOF', async () => {
    const text = await registry().openMetrics.text()
    expect(text).not.toMatch(/\n\n|^\n/)
    expect(text.match(/^# EOF$/gm)).toHaveLength(1)
    expect(text.endsWith('\n# EOF\n')).toBe(true)
  })

  it('escapes quotation marks in help texts', () => {
    expect(openMetricsOf('# HELP a_total Said "so".\n# TYPE a_total counter\na_total 1\n')).toBe(
      '# HELP a Said \\"so\\".\n# TYPE a counter\na_total 1\n# EOF\n',
    )
  })

  it('is not confused by label values', async () => {
    const { metrics, openMetrics } = registry()
    metrics.collectorMessages.inc({ source: 'x\n# TYPE y counter\n\n', result: 'accepted' })
    expect(await openMetrics.text()).toContain('{source="x\\n# TYPE y counter\\n\\n",result="accepted"} 1\n')
  })
})
