import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { decodeValue } from '../../src/core/config-objects/object-record.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { keyFile } from '../support/config-objects/example-objects.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const key = 'an-operator-key-of-ada'

async function ask({ operator }: RunningService, method: string, path: string, body?: object) {
  const response = await fetch(`${operator}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const stateOf = async (service: RunningService, id: string) =>
  (await ask(service, 'GET', `/v1/destinations/${id}`)).body

it('a destination that fails at two processes is disabled, although one is killed, and enabled by an operator', async () => {
  const [crm, erp, ops] = [
    closing(await RecordingReceiver.started({ answers: [404] })),
    closing(await RecordingReceiver.started({ answers: [410] })),
    closing(await RecordingReceiver.started()),
  ]
  const folder = await configFolder({ 'config.key': keyFile('first') })
  const installation = closing(
    await startInstallation({
      operator: {
        listen: '127.0.0.1:0',
        keys: [{ name: 'ada', role: 'operate', key }],
        encryptionKeyFile: join(folder, 'config.key'),
      },
      sources: ['web', 'none'].map(id => ({ id, writeKey: `write-key-of-${id}` })),
      destinations: [
        { id: 'crm', sources: ['web'], lifecycle: { disableAfter: '4s' }, webhooks: [{ url: crm.url }] },
        { id: 'ops', sources: ['none'], webhooks: [{ url: ops.url }] },
      ],
      notices: { destination: 'ops' },
    }),
  )
  const [killed, survivor] = await Promise.all([installation.run(), installation.run()])

  let batch = 0
  const sendSome = () => installation.send(trackEvents(10, `batch-${batch++}`))
  const failingSince = await until(async () => {
    await sendSome()
    const records = await installation.read(installation.topics.config)
    // Both processes may have written a record of the first failure. The earlier one is valid.
    const first = records.find(record => record.key?.toString() === 'failures/crm')
    const decoded = first && decodeValue(String(first.value))
    return decoded?.kind === 'document' ? Number(decoded.document['failingSince']) : undefined
  })
  await killed.kill()
  const started = await installation.run()
  // The killed process may have disabled a destination and not written the notice, so `erp` is
  // created after the kill.
  const document = { sources: ['web'], lifecycle: { onGone: 'disable' }, webhooks: [{ url: erp.url }] }
  expect((await ask(survivor, 'PUT', '/v1/destinations/erp', document)).status).toBe(201)
  const untilDisabled = (service: RunningService, id: string) =>
    until(async () => {
      await sendSome()
      const found = await stateOf(service, id)
      return found['state'] === 'disabled' ? found : undefined
    })
  const disabled = await untilDisabled(started, 'crm')
  // `failingSince` is from before the kill, so the kill has not reset it.
  expect(disabled).toMatchObject({
    version: 0,
    disabledAutomatically: { reason: 'failing', failingSince: new Date(failingSince).toISOString() },
  })
  expect(await untilDisabled(survivor, 'erp')).toMatchObject({
    version: 1,
    disabledAutomatically: { reason: 'gone' },
  })
  const notices = () =>
    ops.requests
      .map(({ body }) => JSON.parse(body) as { event: string; properties: { destination: string; reason?: string } })
      .filter(({ event }) => event === 'Destination Disabled')
      .map(({ properties }) => [properties.destination, properties.reason])
  await ops.until(() => new Set(notices().map(String)).size === 2)
  expect(new Set(notices().map(String))).toEqual(new Set(['crm,failing', 'erp,gone']))

  const { body } = await ask(survivor, 'GET', '/v1/changes')
  expect(body['changes']).toContainEqual(
    expect.objectContaining({ id: 'crm', by: 'hookline.lifecycle', fields: ['enabled'] }),
  )
  await until(async () => {
    await sendSome()
    return ((await started.metrics()).get('hookline_drops_total{reason="disabled"}') ?? 0) > 0 ? true : undefined
  })

  const requests = crm.requests.length
  const enabled = await ask(survivor, 'POST', '/v1/destinations/crm/enable')
  expect(enabled).toMatchObject({ status: 200, body: { state: 'enabled', changedFields: ['enabled'] } })
  expect((await ask(survivor, 'POST', '/v1/destinations/crm/enable')).body).toMatchObject({ changedFields: [] })
  await until(async () => {
    await sendSome()
    return crm.requests.length > requests ? true : undefined
  })
})
