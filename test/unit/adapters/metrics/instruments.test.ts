import { describe, expect, it } from '@jest/globals'
import { createMetrics } from '../../../../src/adapters/metrics/metrics.ts'

const linesOf = async (text: Promise<string>, name: string): Promise<string[]> =>
  (await text).split('\n').filter(line => line.startsWith(name))

describe('metrics', () => {
  it('shows a counter by its labels', async () => {
    const { metrics, text } = createMetrics()
    metrics.deliveries.inc({ destination: 'crm', result: 'delivered' })
    metrics.deliveries.inc({ destination: 'crm', result: 'delivered' }, 2)
    metrics.deliveries.inc({ destination: 'crm', result: 'retried' })
    metrics.deliveries.inc({ destination: 'ads', result: 'delivered' })
    const name = 'hookline_deliveries_total'
    expect(await linesOf(text(), name)).toEqual([
      `${name}{destination="crm",result="delivered"} 3`,
      `${name}{destination="crm",result="retried"} 1`,
      `${name}{destination="ads",result="delivered"} 1`,
    ])
    metrics.deliveries.inc({ destination: 'crm', result: 'delivered' })
    expect(await linesOf(text(), `${name}{destination="crm",result="delivered"}`)).toEqual([
      `${name}{destination="crm",result="delivered"} 4`,
    ])
  })

  it('shows a count that the caller holds, under the same labels', async () => {
    const { metrics, text } = createMetrics()
    const delivered = metrics.deliveries.withLabels({ destination: 'crm', result: 'delivered' })
    const line = 'hookline_deliveries_total{destination="crm",result="delivered"}'
    expect(await linesOf(text(), line)).toEqual([`${line} 0`])
    delivered.inc()
    metrics.deliveries.inc({ destination: 'crm', result: 'delivered' })
    delivered.inc(3)
    expect(await linesOf(text(), line)).toEqual([`${line} 5`])
  })

  it('shows a counter without labels from the start', async () => {
    const { text } = createMetrics()
    expect(await linesOf(text(), 'hookline_dropped_keys_total')).toEqual(['hookline_dropped_keys_total 0'])
  })

  it('keeps label values apart that are equal when joined', async () => {
    const { metrics, text } = createMetrics()
    metrics.webhookCalls.inc({ destination: 'a', webhook: 'b,c', outcome: 'delivered' })
    metrics.webhookCalls.inc({ destination: 'a,b', webhook: 'c', outcome: 'delivered' })
    expect(await linesOf(text(), 'hookline_webhook_calls_total')).toHaveLength(2)
  })

  it('escapes label values', async () => {
    const { metrics, text } = createMetrics()
    metrics.collectorMessages.inc({ source: 'a"b\\c\nd', result: 'accepted' })
    expect(await linesOf(text(), 'hookline_collector_messages_total')).toEqual([
      'hookline_collector_messages_total{source="a\\"b\\\\c\\nd",result="accepted"} 1',
    ])
  })

  it('counts each observation in the buckets of a histogram', async () => {
    const { metrics, text } = createMetrics()
    for (const seconds of [0.02, 0.02, 3]) metrics.webhookCallSeconds.observe({}, seconds)
    const lines = await linesOf(text(), 'hookline_webhook_call_seconds')
    expect(lines).toContain('hookline_webhook_call_seconds_bucket{le="0.025"} 2')
    expect(lines).toContain('hookline_webhook_call_seconds_bucket{le="+Inf"} 3')
    expect(lines).toContain('hookline_webhook_call_seconds_sum 3.04')
  })

  it('shows the last value of a gauge, also when it is set at the exposition', async () => {
    const { metrics, text, onCollect } = createMetrics()
    metrics.callsInFlight.set({}, 3)
    onCollect(() => metrics.callsInFlight.set({}, 5))
    expect(await linesOf(text(), 'hookline_calls_in_flight ')).toEqual(['hookline_calls_in_flight 5'])
  })
})
