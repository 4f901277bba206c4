import { afterEach, describe, expect, it } from '@jest/globals'
import { createOpsServer, type OpsServer } from '../../../../src/adapters/http/ops.ts'
import { createMetrics } from '../../../../src/adapters/metrics.ts'
import type { Check, Health } from '../../../../src/core/health.ts'
import { metricSpecs } from '../../../../src/core/metrics.ts'

let server: OpsServer | undefined
afterEach(async () => {
  await server?.stop()
})

const check = (name: string, ok: boolean): Check => ({ name, ok, detail: `${name} was looked at` })

async function serve(health: Health) {
  const { metrics, ...exposition } = createMetrics()
  server = createOpsServer({ listen: { host: '127.0.0.1', port: 0 }, health: () => health, metrics: exposition })
  const url = await server.start()
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, { headers })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }
  return { get, metrics, exposition }
}

describe('ops server', () => {
  it.each([
    ['/livez', { live: [check('a', true)], ready: [check('b', false)] }, 200, 'ok\n'],
    [
      '/readyz',
      { live: [check('a', true)], ready: [check('b', false), check('c', true)] },
      503,
      '- b: b was looked at\nfailed\n',
    ],
    ['/readyz?verbose', { live: [], ready: [check('b', true)] }, 200, '+ b: b was looked at\nok\n'],
    ['/livez', { live: [check('a', false)], ready: [] }, 503, '- a: a was looked at\nfailed\n'],
  ])('%s', async (path, health, status, text) => {
    const { get } = await serve(health)
    expect(await get(path)).toMatchObject({ status, text })
  })

  it('exposes every metric of the table, with gauges refreshed at each scrape', async () => {
    const { get, metrics, exposition } = await serve({ live: [], ready: [] })
    exposition.onCollect(() => metrics.callsInFlight.set({}, 7))
    metrics.deliveries.inc({ destination: 'crm', result: 'delivered' })
    metrics.deliveries.inc({ destination: 'crm', result: 'delivered' }, 2)
    metrics.firstAttemptDelay.observe({}, 0.02)
    const { text, type } = await get('/metrics')
    expect(type).toContain('text/plain')
    expect(text).toContain('hookline_deliveries_total{destination="crm",result="delivered"} 3\n')
    expect(text).toContain('hookline_calls_in_flight 7\n')
    expect(text).toContain('hookline_first_attempt_delay_seconds_bucket{le="0.025"} 1\n')
    for (const { name, kind } of Object.values(metricSpecs)) expect(text).toContain(`# TYPE ${name} ${kind}\n`)
  })

  it('shows traces to whoever asks for OpenMetrics, and to nobody else', async () => {
    const { get, metrics } = await serve({ live: [], ready: [] })
    metrics.webhookCallSeconds.observe({}, 0.02, 'a'.repeat(32))
    const openMetrics = await get('/metrics', { accept: 'application/openmetrics-text;version=1.0.0,*/*;q=0.1' })
    expect(openMetrics.type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    expect(openMetrics.text).toContain(`trace_id="${'a'.repeat(32)}"`)
    expect(openMetrics.text).toMatch(/\n# EOF\n$/)
    const text = await get('/metrics')
    expect(text.type).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(text.text).not.toMatch(/trace_id|# EOF/)
  })

  it('lists what can be asked for, and each of it can', async () => {
    const { get } = await serve({ live: [check('a', true)], ready: [] })
    const { status, text } = await get('/')
    const listed = text.match(/^\/\S+/gm) ?? []
    expect({ status, listed }).toEqual({ status: 200, listed: ['/metrics', '/readyz?verbose', '/livez?verbose'] })
    for (const path of listed) expect((await get(path)).status).toBe(200)
  })

  it('knows no other path', async () => {
    const { get } = await serve({ live: [], ready: [] })
    expect((await get('/metric')).status).toBe(404)
  })
})
