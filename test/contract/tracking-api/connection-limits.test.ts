import { afterEach, describe, expect, it } from '@jest/globals'
import type { TrackingAnswer } from '../../../src/core/collector/tracking-api.ts'
import { durationMs } from '../../../src/core/time.ts'
import { expectAnswer, startCollector, takenAndClosed } from '../../support/collector/raw-request-harness.ts'
import { everythingTaken, ScriptedTrackingApi } from '../../support/collector/scripted-tracking-api.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { post } from '../../support/network/http-request-bytes.ts'
import { connect, type Wire } from '../../support/network/raw-http-client.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'

const open: Wire[] = []
afterEach(() => {
  for (const wire of open.splice(0)) wire.reset()
})

const addressOf = (client: number): string => `127.0.0.${client}`

async function connections(url: string, client: number, count: number, bytes = ''): Promise<readonly Wire[]> {
  const wires: Wire[] = []
  for (let opened = 0; opened < count; opened += 1) {
    const wire = await connect(url, addressOf(client))
    open.push(wire)
    if (bytes !== '') await wire.send(bytes)
    wires.push(wire)
  }
  return wires
}

const connection = async (url: string, client: number): Promise<Wire> => (await connections(url, client, 1))[0] as Wire

async function expectServed(wires: readonly Wire[]): Promise<void> {
  const answers = await Promise.all(wires.map(wire => wire.send(post('/v1/t')).then(() => wire.answer())))
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
}

describe('at the maximum of connections', () => {
  const hour = durationMs(3_600_000)
  // With these long timeouts, only the connection limits can close a connection.
  const limits = {
    connections: 40,
    connectionsPerAddress: 20,
    headTimeout: hour,
    requestTimeout: hour,
    inactivityTimeout: hour,
  }

  it.each([
    ['idle connections', ''],
    ['incomplete heads', 'POST /v1/batch HTTP/1.1\r\nHost: a\r\nX: '],
    ['incomplete bodies', 'POST /v1/batch HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{'],
  ])('a crowd of four addresses with %s loses connections to other clients', async (_, bytes) => {
    const collector = await startCollector(new ScriptedTrackingApi(), { limits })
    const patient = await connections(collector.url, 9, 2)
    const crowd: (readonly Wire[])[] = []
    for (const client of [2, 3, 4, 5])
      crowd.push(await connections(collector.url, client, client === 5 ? 8 : 10, bytes))

    const honest: Wire[] = []
    for (let client = 10; client < 30; client += 1) honest.push(await connection(collector.url, client))
    await expectServed(honest)
    await expectServed(patient)
    // The server has closed 20 connections of the crowd. Each address of the crowd keeps its newest
    // four or five.
    await Promise.all(crowd.flatMap((wires, index) => wires.slice(0, [6, 5, 5, 4][index]).map(wire => wire.closed)))
    expect(await collector.connectionsClosed()).toBe(20)
    await collector.stop()
  })

  it('a crowd that opens further connections only replaces its own', async () => {
    const collector = await startCollector(new ScriptedTrackingApi(), { limits })
    const honest = await connections(collector.url, 9, 8)
    const crowd: Wire[] = []
    for (let round = 0; round < 40; round += 1)
      for (const client of [2, 3]) crowd.push(await connection(collector.url, client))
    await Promise.all(crowd.slice(0, 48).map(wire => wire.closed))
    await expectServed(honest)
    await collector.stop()
  })

  it('behind a proxy, the connection that is idle for the longest time is replaced', async () => {
    const collector = await startCollector(new ScriptedTrackingApi(), {
      limits: { ...limits, connections: 4 },
      clientAddressHeader: 'X-Forwarded-For',
    })
    const [used, unused] = (await connections(collector.url, 1, 2)) as [Wire, Wire]
    await expectServed([used])
    const others = await connections(collector.url, 1, 3)
    await unused.closed
    await expectServed([used, ...others])
    await collector.stop()
  })

  it('a request in progress is not aborted, and a new connection is refused when no other is idle', async () => {
    const api = new ScriptedTrackingApi()
    const answer = Promise.withResolvers<TrackingAnswer>()
    api.answer(() => answer.promise)
    const clock = new ManualClock()
    const warnings: [object, string][] = []
    const collector = await startCollector(api, {
      limits: { ...limits, connections: 3 },
      logger: { ...silent, warn: (...args) => void warnings.push(args) },
      clock,
    })
    const idle = await connections(collector.url, 2, 2)
    const busy: Wire[] = []
    for (const count of [1, 2, 3]) {
      const wire = await connection(collector.url, 2)
      busy.push(wire)
      await wire.send(post('/v1/t'))
      await api.until(() => api.requests.length === count)
    }
    await Promise.all(idle.map(wire => wire.closed))
    await clock.advance(durationMs(60_000))
    await (await connection(collector.url, 3)).closed
    await (await connection(collector.url, 4)).closed
    const text =
      'an HTTP server of this process has reached its maximum number of connections (see "connections"): run more processes, or find clients that open many connections; since its start, this process closed idle connections for new ones (number: "replaced") and refused new connections (number: "refused")'
    expect(warnings).toEqual([
      [{ connections: 3, replaced: 1, refused: 0 }, text],
      [{ connections: 3, replaced: 2, refused: 1 }, text],
    ])
    answer.resolve(everythingTaken)
    for (const wire of busy) expectAnswer(await wire.answer(), takenAndClosed)
    expect(await collector.connectionsClosed()).toBe(4)
    const stopped = collector.stop()
    await clock.advance(durationMs(1_000))
    await stopped
  })
})
