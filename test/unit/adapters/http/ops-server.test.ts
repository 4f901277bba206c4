import { afterEach, describe, expect, it } from '@jest/globals'
import { createOpsServer, type OpsServer } from '../../../../src/adapters/http/ops-server.ts'
import type { HttpLimits } from '../../../../src/adapters/http/server-limits.ts'
import { createMetrics } from '../../../../src/adapters/metrics/metrics.ts'
import type { Check, Health } from '../../../../src/core/health.ts'
import { metricSpecs } from '../../../../src/core/metrics/metrics.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { connect } from '../../../support/network/raw-http-client.ts'

let server: OpsServer | undefined
afterEach(async () => {
  await server?.stop()
})

const check = (name: string, ok: boolean): Check => ({ name, ok, detail: `${name} was looked at` })

async function serve(health: Health, limits?: Partial<HttpLimits>) {
  const { metrics, ...exposition } = createMetrics()
  const listen = { host: '127.0.0.1', port: 0 }
  server = createOpsServer({ listen, health: () => health, metrics: exposition, ...(limits && { limits }) })
  const url = await server.start()
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, { headers })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }
  return { url, get, metrics, exposition }
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

  it('shows exemplars only to clients that ask for OpenMetrics', async () => {
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

  it('lists its paths, and each of them works', async () => {
    const { get } = await serve({ live: [check('a', true)], ready: [] })
    const { status, text } = await get('/')
    const listed = text.match(/^\/\S+/gm) ?? []
    expect({ status, listed }).toEqual({ status: 200, listed: ['/metrics', '/readyz?verbose', '/livez?verbose'] })
    for (const path of listed) expect((await get(path)).status).toBe(200)
  })

  it('has no other path', async () => {
    const { get } = await serve({ live: [], ready: [] })
    expect((await get('/metric')).status).toBe(404)
  })
})

describe('connections of the ops server', () => {
  const quick = { headTimeout: durationMs(50), requestTimeout: durationMs(50), checkEvery: durationMs(10) }
  const hour = durationMs(3_600_000)
  /** Timeouts that are so long that only the limit of connections can close a connection. */
  const patient = { headTimeout: hour, requestTimeout: hour, keepAlive: hour, inactivityTimeout: hour }
  const well: Health = { live: [check('a', true)], ready: [] }

  it.each([
    ['a silent connection', ''],
    ['half a head', 'GET /livez HTTP/1.1\r\nHost: '],
  ])('%s is closed after the head timeout', async (_, sent) => {
    const { url } = await serve(well, quick)
    const wire = await connect(url)
    await wire.send(sent)
    await wire.closed
    wire.reset()
  })

  it('an idle connection is closed after the keep-alive timeout', async () => {
    const { url } = await serve(well, { keepAlive: durationMs(20) })
    const wire = await connect(url)
    await wire.send('GET /livez HTTP/1.1\r\nHost: ops\r\n\r\n')
    expect(await wire.answer('GET')).toMatchObject({ status: 200 })
    await wire.closed
    wire.reset()
  })

  it('with pipelined requests gets one response after the other', async () => {
    const { url, get, exposition } = await serve(well)
    let collected = 0
    exposition.onCollect(() => void collected++)
    const wire = await connect(url)
    await wire.send('GET /metrics HTTP/1.1\r\nHost: ops\r\n\r\n'.repeat(200))
    expect(await wire.answer('GET')).toMatchObject({ status: 200 })
    expect(await get('/livez')).toMatchObject({ status: 200 })
    expect(collected).toBeLessThan(200)
    for (let count = 1; count < 200; count += 1) expect(await wire.answer('GET')).toMatchObject({ status: 200 })
    wire.reset()
  })

  it('at the limit, the oldest silent connection is closed so that a probe is answered', async () => {
    const { url, get } = await serve(well, { connections: 3, ...patient })
    const silent = [await connect(url), await connect(url), await connect(url)]
    expect(await get('/livez')).toMatchObject({ status: 200 })
    await silent[0]?.closed
    for (const wire of silent) wire.reset()
  })

  it('by default, at most 64 are open', async () => {
    const { url, get } = await serve(well, patient)
    const silent = await Promise.all(Array.from({ length: 63 }, () => connect(url)))
    const idle = await connect(url)
    await idle.send('GET /livez HTTP/1.1\r\nHost: ops\r\n\r\n')
    expect(await idle.answer('GET')).toMatchObject({ status: 200 })
    expect(await get('/livez')).toMatchObject({ status: 200 })
    await Promise.race(silent.map(({ closed }) => closed))
    for (const wire of [idle, ...silent]) wire.reset()
  })

  it('by default, a silent or idle one is closed after 5 s', async () => {
    // Without the override, the limit `inactivityTimeout` would close the connections after 10 s.
    const { url } = await serve(well, { inactivityTimeout: hour })
    const startedAt = performance.now()
    const [silent, idle] = [await connect(url), await connect(url)]
    await idle.send('GET /livez HTTP/1.1\r\nHost: ops\r\n\r\n')
    expect(await idle.answer('GET')).toMatchObject({ status: 200 })
    await Promise.all([silent.closed, idle.closed])
    // The head timeout of the other servers is 15 s.
    expect(performance.now() - startedAt).toBeLessThan(14_000)
    for (const wire of [idle, silent]) wire.reset()
  })

  it('at the limit, also a connection with a request in progress is closed so that a probe is answered', async () => {
    const unanswered = { contentType: 'text/plain', text: () => new Promise<string>(() => {}) }
    server = createOpsServer({
      listen: { host: '127.0.0.1', port: 0 },
      health: () => well,
      metrics: { ...unanswered, openMetrics: unanswered },
      limits: { connections: 2 },
    })
    const url = await server.start()
    const busy = [await connect(url), await connect(url)]
    for (const wire of busy) await wire.send('GET /metrics HTTP/1.1\r\nHost: ops\r\n\r\n')
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    await busy[0]?.closed
    for (const wire of busy) wire.reset()
  })
})
