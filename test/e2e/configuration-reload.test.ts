import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from '@jest/globals'
import type { SinkRequest } from '../../src/adapters/http/sink-server.ts'
import { createMetrics } from '../../src/adapters/metrics/metrics.ts'
import { setConfigurationMetrics } from '../../src/app/compose/configuration-and-health-gauges.ts'
import { loadSettings } from '../../src/app/load-settings.ts'
import { Secret } from '../../src/core/secret.ts'
import { everyService } from '../../src/core/settings/service-names.ts'
import { epochMs } from '../../src/core/time.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { until } from '../support/kafka/admin.ts'
import { createTestIo } from '../support/process/in-process-command.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const reloads = 'hookline_config_reloads_total'
const isSignedWith = (secret: string, { body, headers }: SinkRequest): boolean =>
  headers['x-signature'] === createHmac('sha1', secret).update(body).digest('hex')

/** The series with the configuration hash of a process that starts with this file. */
async function hashAtStart(config: string): Promise<string> {
  const { metrics, ...exposition } = createMetrics()
  const io = createTestIo({ env: process.env as Record<string, string> })
  setConfigurationMetrics(metrics, await loadSettings({ config }, io, everyService), epochMs(0))
  return /^hookline_config_info\{.*\}/m.exec(await exposition.text())?.[0] ?? ''
}

describe('a changed configuration', () => {
  it('applies a valid change under traffic, rejects an invalid one, and fails no delivery', async () => {
    const old = new Secret(testSecret('old-secret'))
    const rotated = new Secret(testSecret('new-secret'))
    const receiver = closing(await RecordingReceiver.started({ secrets: [old, rotated] }))
    const added = closing(await RecordingReceiver.started())
    const crm = (sharedSecret: string) => ({
      id: 'crm',
      sources: ['web'],
      sharedSecret,
      webhooks: [{ url: receiver.url }],
    })
    // The environment overrides these addresses.
    const kafka = { brokers: ['127.0.0.1:1'] }
    const installation = closing(await startInstallation({ kafka, destinations: [crm(testSecret('old-secret'))] }))
    const service = await installation.run()
    let sent = 0
    const send = async (): Promise<void> => {
      await installation.send(trackEvents(50, `batch-${sent}`))
      sent += 50
    }
    const reloaded = (result: string, times: number) =>
      until(async () => {
        await send()
        return (await service.metrics()).get(`${reloads}{result="${result}"}`) === times ? true : undefined
      })

    await send()
    await receiver.untilDelivered(sent)
    expect(receiver.requests.every(request => request.signatureValid === true)).toBe(true)

    await installation.configure({
      kafka,
      destinations: [crm(testSecret('new-secret')), { id: 'second', sources: ['web'], webhooks: [{ url: added.url }] }],
    })
    await reloaded('applied', 1)
    // The process may have read all earlier batches before the change.
    await send()
    await added.untilDelivered(1)
    expect([...(await service.metrics()).keys()]).toContain(await hashAtStart(installation.configFile))

    await writeFile(installation.configFile, '{ "kafka": ')
    await reloaded('refused', 1)
    await send()
    await receiver.untilDelivered(sent)
    await added.until(() => added.successes.size >= 50)

    expect(receiver.requests.every(request => request.signatureValid === true)).toBe(true)
    // The last batch was sent after the change of the secret.
    const last = receiver.requests.filter(({ messageId }) => messageId?.startsWith(`batch-${sent - 50}-`))
    expect(new Set(last.map(request => isSignedWith(testSecret('new-secret'), request)))).toEqual(new Set([true]))
    const metrics = await service.metrics()
    expect(metrics.get('hookline_deliveries_total{destination="crm",result="retried"}') ?? 0).toBe(0)
    expect(receiver.successes.size).toBe(sent)
    const lines = await installation.log()
    expect(
      lines.some(
        line =>
          line['msg'] ===
          'configuration refused; the last valid configuration stays in use until you correct the problems',
      ),
    ).toBe(true)
    expect(JSON.stringify(lines)).not.toContain(testSecret('new-secret'))
    expect(await service.stop()).toBe(0)
  })

  it('applies a changed filter to later messages, and sends no message that the old one excluded', async () => {
    const everything = closing(await RecordingReceiver.started())
    const filtered = closing(await RecordingReceiver.started())
    const destinations = (atLeast: number) => [
      { id: 'all', sources: ['web'], webhooks: [{ url: everything.url }] },
      {
        ...{ id: 'large', sources: ['web'], webhooks: [{ url: filtered.url }] },
        filter: { events: { include: ['Order *'] }, where: [{ path: 'properties.total', op: 'gte', value: atLeast }] },
      },
    ]
    const installation = closing(await startInstallation({ destinations: destinations(13) }))
    const service = await installation.run()
    await installation.send(trackEvents(20, 'before'))
    await everything.untilDelivered(20)
    const drops = async () => (await service.metrics()).get('hookline_drops_total{reason="filtered"}')
    await until(async () => ((await drops()) === 20 ? true : undefined))

    await installation.configure({ destinations: destinations(12) })
    let sent = 0
    await until(async () => {
      await installation.send(trackEvents(1, `after-${sent++}`))
      return filtered.successes.size > 0 ? true : undefined
    })
    await everything.untilDelivered(20 + sent)
    expect([...filtered.successes.keys()].filter(id => id.startsWith('before'))).toEqual([])
    expect(await service.stop()).toBe(0)
  })

  it('changes the log level at runtime, and logs the new one', async () => {
    const receiver = closing(await RecordingReceiver.started())
    const destinations = [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }]
    const installation = closing(await startInstallation({ destinations }))
    const service = await installation.run()
    const attempts = async (level: string) =>
      (await installation.log()).filter(({ msg, ...line }) => msg === 'delivery attempted' && line['level'] === level)
    await installation.send(trackEvents(20, 'quiet'))
    await receiver.untilDelivered(20)
    expect(await attempts('debug')).toEqual([])

    await installation.configure({ destinations, log: { level: 'debug' }, delivery: { ordering: 'none' } })
    let sent = 0
    const lines = await until(async () => {
      await installation.send(trackEvents(1, `loud-${sent++}`))
      const found = await attempts('debug')
      return found.length > 0 ? found : undefined
    })
    expect(lines[0]).toMatchObject({ destination: 'crm', decision: 'delivered', type: 'track' })
    expect((await service.ask('/readyz?verbose')).text).toMatch(
      /^\+ configuration: in use since \S+; changes that need a restart: delivery$/m,
    )
    expect(await service.stop()).toBe(0)
    expect(JSON.stringify(await installation.log())).not.toContain('"***"')
  })
})

describe('a bad file of destinationsFrom', () => {
  it('removes only its own destination when a process starts', async () => {
    const receiver = closing(await RecordingReceiver.started())
    const directory = await configFolder({
      'bad.yaml': 'id: bad\nsources: [web]\nwebhooks: [{ url: "https:',
      'good.yaml': `id: good\nsources: [web]\nwebhooks: [{ url: "${receiver.url}" }]\n`,
    })
    const installation = closing(await startInstallation({ destinationsFrom: directory }))
    const service = await installation.run()
    await installation.send(trackEvents(10))
    await receiver.untilDelivered(10)
    expect((await service.metrics()).get('hookline_config_excluded_files')).toBe(1)
  })
})
