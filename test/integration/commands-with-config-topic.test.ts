import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { until } from '../support/kafka/admin.ts'
import { operatorKey } from '../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../support/operator/send-operator-api-request.ts'
import { runCommand } from '../support/process/in-process-command.ts'
import { startInstallation, type TestInstallation, trackEvents } from '../support/process/test-installation.ts'
import { testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

let installation: TestInstallation
let service: RunningService
let receiver: RecordingReceiver
const operator = (encryptionKeyFile: string) => ({
  listen: '127.0.0.1:0',
  keys: [{ name: 'ada', role: 'operate', key: operatorKey }],
  encryptionKeyFile,
})
const settings = (encryptionKeyFile: string) => ({
  delivery: { schedule: ['1s'], attemptsTopic: true },
  operator: operator(encryptionKeyFile),
  audiences: { list: [{ name: 'Regular', destinations: ['crm'] }] },
})

beforeAll(async () => {
  receiver = await RecordingReceiver.started({ answers: [404, 200] })
  const folder = await configFolder({ key: `${'01'.repeat(31)}02\n` })
  installation = await startInstallation(settings(join(folder, 'key')))
  service = await installation.run()
  const put = (path: string, document: object) => askObjects({ url: service.operator! }, `PUT ${path}`, document)
  expect((await put('/v1/sources/app', { writeKey: testSecret('write-key-of-app') })).status).toBe(201)
  const document = {
    sources: ['web', 'app'],
    sharedSecret: testSecret('shared-by-crm'),
    webhooks: [{ url: receiver.url }],
  }
  expect((await put('/v1/destinations/crm', document)).status).toBe(201)
  await until(async () =>
    (await service.metrics()).get('hookline_config_objects{state="used"}') === 2 ? true : undefined,
  )
})
afterAll(async () => {
  await installation?.close()
  await receiver?.close()
})

async function hookline(words: readonly string[], env: Record<string, string> = {}) {
  const given = { ...(process.env as Record<string, string>), ...env }
  return runCommand([...words, '--config', installation.configFile], { env: given })
}

it('hookline replay replays the dead letters of the destination', async () => {
  await installation.send(trackEvents(3))
  await until(async () => {
    const { out } = await hookline(['dead-letters', '--destination', 'crm', '--json'])
    return out.split('\n').filter(Boolean).length === 3 ? true : undefined
  })
  const { code, out } = await hookline(['replay', '--destination', 'crm', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ selected: 3, replayed: 3, refused: {} })
  await receiver.untilDelivered(3)
})

it.each<[string, string[], string]>([
  ['delete-user', ['delete-user', '--user', 'u-1', '--source', 'app'], '"id": "crm"'],
  ['produce', ['produce', '--source', 'app', '--count', '1'], '"source": "app"'],
  ['audience show', ['audience', 'show', '--name', 'Regular'], '"id": "crm"'],
  ['doctor', ['doctor'], '2 sources, 1 destination, 1 webhook'],
])('hookline %s knows the destination and the source', async (_name, words, shown) => {
  const { code, out, err } = await hookline([...words, '--json'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain(shown)
})

it('hookline tail knows the destination, and no other one', async () => {
  const { code, out } = await hookline(['tail', '--destination', 'crm', '--since', '1h', '--count', '1', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ destination: 'crm' })
  expect(await hookline(['tail', '--destination', 'crn'])).toMatchObject({ code: 2 })
})

it('a command that cannot reach Kafka says that the config topic cannot be read', async () => {
  const { code, err } = await hookline(['replay', '--destination', 'crm'], { KAFKA_BROKERS: '127.0.0.1:1' })
  expect(code).toBe(1)
  expect(err).toContain(`cannot read topic ${installation.topics.config}`)
})

it('hookline doctor reports that the config topic cannot be read', async () => {
  const { code, out } = await hookline(['doctor'], { KAFKA_BROKERS: '127.0.0.1:1' })
  expect(code).toBe(1)
  expect(out).toMatch(/^fail {2}configuration: the destinations and sources that were created .+ were not checked: .+/m)
})
