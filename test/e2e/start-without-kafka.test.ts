import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { freePorts } from '../../deploy/tools/local/free-ports.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { startTcpProxy } from '../support/network/tcp-proxy.ts'
import { spawnRun } from '../support/process/starting-process.ts'
import { startInstallation, type TestInstallation } from '../support/process/test-installation.ts'
import { testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'

const closing = closingAfterEach()
const operator = {
  listen: '127.0.0.1:0',
  keys: [{ name: 'ada', role: 'operate', key: testSecret('operator-key-of-ada') }],
}
const destinations = [{ id: 'crm', sources: ['web'], webhooks: [{ url: 'http://127.0.0.1:39099/' }] }]

let installation: TestInstallation
beforeAll(async () => {
  installation = await startInstallation({ destinations, operator })
})
afterAll(() => installation?.close())

/** Starts `hookline run` with brokers at this port. Resolves when the process waits for them. */
async function waiting(brokerPort: number, services: string) {
  const ops = await freePorts(1)
  await installation.configure({ destinations, operator, ops: { listen: `127.0.0.1:${ops}` } })
  const words = ['--config', installation.configFile, '--services', services]
  const starting = spawnRun(words, { KAFKA_BROKERS: `127.0.0.1:${brokerPort}` })
  closing({ close: async () => void starting.child.kill('SIGKILL') })
  await starting.logs('tries again every 2 s')
  const status = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${ops}${path}`)).status
  return { ...starting, status }
}

/** Resolves when a process connects to this port, where nothing listened before. */
async function connectedTo(port: number): Promise<void> {
  const server = createServer(socket => void socket.destroy()).listen(port, '127.0.0.1')
  closing({ close: async () => void server.close() })
  await once(server, 'connection')
}

describe('a process that starts without Kafka', () => {
  it.each(['collector', 'dispatcher', 'audiences', 'operator'])(
    '%s: tries again, and SIGTERM ends it with 0',
    async services => {
      const port = await freePorts(1)
      const { child, exited, status } = await waiting(port, services)
      await connectedTo(port)
      expect([await status('/livez'), await status('/readyz')]).toEqual([200, 503])
      child.kill('SIGTERM')
      expect(await exited).toBe(0)
    },
  )

  it('continues its start when a broker responds', async () => {
    const [, port = ''] = (process.env['KAFKA_BROKERS'] ?? '').split(',')[0]?.split(':') ?? []
    const link = closing(await startTcpProxy(Number(port)))
    link.set({ kind: 'cut' })
    const { child, exited, ready } = await waiting(link.port, 'collector,dispatcher,audiences,operator')
    link.set({ kind: 'open' })
    await ready
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
  })
})
