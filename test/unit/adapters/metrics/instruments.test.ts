import { describe, expect, it } from '@jest/globals'
import { createMetrics } from '../../../../src/adapters/metrics/metrics.ts'

const linesOf = async (text: Promise<string>, name: string): Promise<string[]> =>
  (await text).split('\n').filter(line => line.startsWith(name))

describe('metrics', () => {
  it('a counter is shown with what was counted up to then, by its labels', async () => {
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

  it('a count that is kept is shown from then on, and is the one that its labels find', async () => {
    const { metrics, text } = createMetrics()
    const delivered = metrics.deliveries.of({ destination: 'crm', result: 'delivered' })
    const line = 'hookline_deliveries_total{destination="crm",result="delivered"}'
    expect(await linesOf(text(), line)).toEqual([`${line} 0`])
    delivered.inc()
    metrics.deliveries.inc({ destination: 'crm', result: 'delivered' })
    delivered.inc(3)
    expect(await linesOf(text(), line)).toEqual([`${line} 5`])
  })

  it('one without labels is there from the start', async () => {
    const { text } = createMetrics()
    expect(await linesOf(text(), 'hookline_dropped_keys_total')).toEqual(['hookline_dropped_keys_total 0'])
  })

  it('label values that look the same when joined do not mix', async () => {
    const { metrics, text } = createMetrics()
    metrics.webhookCalls.inc({ destination: 'a', webhook: 'b,c', outcome: 'delivered' })
    metrics.webhookCalls.inc({ destination: 'a,b', webhook: 'c', outcome: 'delivered' })
    expect(await linesOf(text(), 'hookline_webhook_calls_total')).toHaveLength(2)
  })

  it('what a label holds cannot break out of it', async () => {
    const { metrics, text } = createMetrics()
    metrics.collectorMessages.inc({ source: 'a"b\\c\nd', result: 'accepted' })
    expect(await linesOf(text(), 'hookline_collector_messages_total')).toEqual([
      'hookline_collector_messages_total{source="a\\"b\\\\c\\nd",result="accepted"} 1',
    ])
  })

  it('a histogram counts each observation in its buckets', async () => {
    const { metrics, text } = createMetrics()
    for (const seconds of [0.02, 0.02, 3]) metrics.webhookCallSeconds.observe({}, seconds)
    const lines = await linesOf(text(), 'hookline_webhook_call_seconds')
    expect(lines).toContain('hookline_webhook_call_seconds_bucket{le="0.025"} 2')
    expect(lines).toContain('hookline_webhook_call_seconds_bucket{le="+Inf"} 3')
    expect(lines).toContain('hookline_webhook_call_seconds_sum 3.04')
  })

  it('a gauge is what was set last, also when it is set at the exposition', async () => {
    const { metrics, text, onCollect } = createMetrics()
    metrics.callsInFlight.set({}, 3)
    onCollect(() => metrics.callsInFlight.set({}, 5))
    expect(await linesOf(text(), 'hookline_calls_in_flight ')).toEqual(['hookline_calls_in_flight 5'])
  })
})
