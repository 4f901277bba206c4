import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { createNodeServer } from '../../../../src/adapters/http/node-server-with-limits.ts'
import { createOpsServer } from '../../../../src/adapters/http/ops-server.ts'
import { defaultLimits } from '../../../../src/adapters/http/server-limits.ts'
import { startCollector } from '../../../support/collector/raw-request-harness.ts'
import { ScriptedTrackingApi } from '../../../support/collector/scripted-tracking-api.ts'
import { post } from '../../../support/network/http-request-bytes.ts'
import { connect, type Wire } from '../../../support/network/raw-http-client.ts'
import { ScriptedOperatorApi } from '../../../support/operator/scripted-deletion-and-audience-api.ts'
import { startOperator } from '../../../support/operator/server.ts'

const wires: Wire[] = []
const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const wire of wires.splice(0)) wire.reset()
  for (const stop of stops.splice(0)) await stop()
})

async function connected(url: string): Promise<Wire> {
  const wire = await connect(url)
  wires.push(wire)
  return wire
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`
const connectMethod = 'CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n'
const never = new Promise<never>(() => {})

/** Each listener of Hookline, with a request that gets no response, and a path that responds. */
const listeners = {
  collector: async () => {
    const api = new ScriptedTrackingApi()
    api.answer(() => never)
    return { ...(await startCollector(api)), unanswered: post('/v1/t').toString(), path: '/openapi.json' }
  },
  operator: async () => ({
    ...(await startOperator(new ScriptedOperatorApi(), { publishedKeys: () => never })),
    unanswered: get('/.well-known/hookline-keys.json'),
    path: '/openapi.json',
  }),
  ops: async () => {
    const metrics = { contentType: 'text/plain', text: () => never }
    const listen = { host: '127.0.0.1', port: 0 }
    const health = () => ({ live: [], ready: [] })
    const server = createOpsServer({ listen, health, metrics: { ...metrics, openMetrics: metrics } })
    return { stop: server.stop, url: await server.start(), unanswered: get('/metrics'), path: '/livez' }
  },
}

describe('CONNECT behind a request in progress', () => {
  it.each(Object.entries(listeners))(
    'does not end the process when the client then resets the connection: %s',
    async (_, start) => {
      const { url, stop, unanswered, path } = await start()
      stops.push(stop)
      const other = await connected(url)
      const respondsToOther = async (): Promise<void> => {
        await other.send(get(path))
        expect((await other.answer('GET')).status).toBe(200)
      }
      const wire = await connected(url)
      await wire.send(unanswered + connectMethod)
      // Each response takes at least one iteration of the event loop. After three responses, the
      // server has parsed CONNECT.
      for (let count = 0; count < 3; count += 1) await respondsToOther()
      wire.reset()
      await wire.closed
      await respondsToOther()
    },
  )

  it('closes the responses to all requests before it', async () => {
    const closed: Promise<unknown>[] = []
    const server = createNodeServer((_, response) => void closed.push(once(response, 'close')), defaultLimits)
    stops.push(() => once(server.close(), 'close'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const wire = await connected(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await wire.send(get('/').repeat(5) + connectMethod)
    await wire.closed
    expect(closed).toHaveLength(5)
    await Promise.all(closed)
  })

  it('does not count the unanswered requests of closed connections', async () => {
    let requests = 0
    const server = createNodeServer(() => {
      requests += 1
    }, defaultLimits)
    stops.push(() => once(server.close(), 'close'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    for (let count = 0; count < 200; count += 1) {
      const wire = await connected(url)
      await wire.send(get('/').repeat(31) + connectMethod)
      await wire.closed
    }
    expect(requests).toBe(200 * 31)
    const wire = await connected(url)
    const second = Promise.withResolvers<void>()
    server.on('request', () => requests === 200 * 31 + 2 && second.resolve())
    await wire.send(get('/').repeat(2))
    await second.promise
  })
})
