import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { until } from '../support/kafka/admin.ts'
import { HttpEndpoint } from '../support/network/http-endpoint.ts'
import { operatorKey } from '../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../support/operator/send-operator-api-request.ts'
import { startInstallation, type TestInstallation, trackEvents } from '../support/process/test-installation.ts'

const events = 40
let installation: TestInstallation
let endpoint: HttpEndpoint
let operator: RunningService
let dispatchers: readonly RunningService[]

beforeAll(async () => {
  endpoint = new HttpEndpoint(async (request, response) => {
    response.statusCode = request.url === '/fails' ? 500 : 200
    request.resume().on('end', () => response.end())
  })
  await endpoint.start()
  const destination = (id: string, path: string) => ({
    ...{ id, sources: ['web'], sharedSecret: 'a-shared-secret' },
    webhooks: [{ url: `${endpoint.url}${path}` }],
  })
  installation = await startInstallation({
    log: { level: 'warn' },
    delivery: { schedule: ['5m'] },
    operator: { listen: '127.0.0.1:0', keys: [{ name: 'ada', role: 'operate', key: operatorKey }] },
    destinations: [destination('works', '/works'), destination('fails', '/fails')],
  })
  const dispatcher = () => installation.run({}, ['--services', 'dispatcher'])
  const started = await Promise.all([installation.run({}, ['--services', 'operator']), dispatcher(), dispatcher()])
  operator = started[0]
  dispatchers = started.slice(1)
})
afterAll(async () => {
  await installation?.close()
  await endpoint?.close()
})

const ask = async (path: string, of = operator) => (await askObjects({ url: of.operator! }, `GET ${path}`)).body
const untilAsked = (path: string, isExpected: (body: Awaited<ReturnType<typeof ask>>) => boolean, of = operator) =>
  until(async () => {
    const body = await ask(path, of)
    return isExpected(body) ? body : undefined
  })

const namesOf = ({ services }: { services: { services: string[] }[] }) => services.map(each => each.services[0]).sort()
const partitionsOf = ({ services }: { services: { partitions: number }[] }) =>
  services.map(({ partitions }) => partitions).sort()

it('shows all processes with their services and partitions', async () => {
  // Waits until each of the two dispatchers owns two of the four partitions.
  // The response is partial when Kafka takes more than about a second.
  const { services } = await untilAsked(
    '/v1/status',
    body => body.partial === undefined && partitionsOf(body).join() === '0,2,2',
  )
  expect(namesOf({ services })).toEqual(['dispatcher', 'dispatcher', 'operator'])
  expect(new Set(services.map(({ version }: { version: string }) => version)).size).toBe(1)
})

it('shows the results, rates and circuit breakers of both dispatchers', async () => {
  await installation.send(trackEvents(events))
  const { results } = await untilAsked(
    '/v1/destinations/works/status',
    body => body.results.lastHour.delivered >= events,
  )
  expect(results.lastHour).toMatchObject({ delivered: events, failed: 0, deadLettered: 0, dropped: 0 })
  expect(results.lastDay).toMatchObject({ delivered: events })
  const failing = await untilAsked('/v1/destinations/fails/status', body => body.circuitBreaker.state === 'open')
  expect(Date.parse(failing.circuitBreaker.nextProbeAt)).toBeGreaterThan(Date.now() - 60_000)
  const { openBreakers } = await untilAsked('/v1/status', body => body.openBreakers.length > 0)
  expect(openBreakers).toEqual(['fails'])
})

it('an operator process that starts late shows the same, also when dispatchers were killed or stopped', async () => {
  const [killed, stopped] = dispatchers
  await killed?.kill()
  await stopped?.stop()
  const late = await installation.run({}, ['--services', 'operator'])
  const { results } = await untilAsked('/v1/destinations/works/status', body => body.partial === undefined, late)
  expect(results.lastHour).toMatchObject({ delivered: events, failed: 0 })
  // The stopped process has removed itself from the status. The killed one disappears after 30 s.
  const isExpected = (names: readonly unknown[]) =>
    names.filter(name => name === 'operator').length === 2 && names.length <= 3
  await untilAsked('/v1/status', body => isExpected(namesOf(body)), late)
})
