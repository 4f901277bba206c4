import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { encodeRecord } from '../../src/core/config-objects/object-record.ts'
import type { EncryptionKey } from '../../src/core/encryption-key.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import {
  destinationDocument,
  firstKey,
  keyFile,
  named,
  objectRecord,
  sealedValue,
  secondKey,
} from '../support/config-objects/example-objects.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

function created(id: string, { url }: RecordingReceiver, key: EncryptionKey) {
  const webhooks = [{ url, headers: { Authorization: 'Bearer token-of-the-crm' } }]
  const document = destinationDocument({ webhooks })
  return encodeRecord(objectRecord({ id, value: sealedValue(named('destination', id), document, key) }))
}

it('a process applies changes of the config topic within seconds, and an object that it cannot decrypt waits', async () => {
  const [first, second] = [closing(await RecordingReceiver.started()), closing(await RecordingReceiver.started())]
  const folder = await configFolder({ 'first.key': keyFile('first'), 'second.key': keyFile('first') })
  const encryptionKeyFile = [join(folder, 'first.key'), join(folder, 'second.key')]
  const installation = closing(await startInstallation({ operator: { encryptionKeyFile } }))
  const { topics } = installation
  // This object exists before the process starts.
  await installation.write(topics.config, [created('crm', first, firstKey)])
  const service = await installation.run()
  const objects = async (state: string) => (await service.metrics()).get(`hookline_config_objects{state="${state}"}`)
  expect([await objects('used'), await objects('excluded')]).toEqual([1, 0])
  expect((await service.metrics()).get('hookline_config_objects_age_seconds')).toBeGreaterThan(0)
  await installation.send(trackEvents(5, 'before'))
  await first.untilDelivered(5)
  expect(first.requests[0]?.headers['authorization']).toBe('Bearer token-of-the-crm')

  await installation.write(topics.config, [created('erp', second, secondKey)])
  const writtenAt = performance.now()
  await until(async () => ((await objects('excluded')) === 1 ? true : undefined))
  // An idle machine needs less than a second. A busy one can stop for some seconds.
  expect(performance.now() - writtenAt).toBeLessThan(10_000)
  await installation.send(trackEvents(5, 'waiting'))
  await first.untilDelivered(10)
  expect(second.requests).toEqual([])

  // The second key file now has the missing key, so the process reloads its configuration.
  await writeFile(encryptionKeyFile[1]!, keyFile('second'))
  await second.untilDelivered(5)
  expect([await objects('used'), await objects('excluded')]).toEqual([2, 0])

  const audits = await installation.log()
  const excluded = audits.filter(({ msg }) => String(msg).startsWith('hookline cannot use a destination or source'))
  expect(excluded).toMatchObject([{ kind: 'destination', id: 'erp', version: 1 }])
  expect(JSON.stringify(audits)).not.toMatch(/of-the-crm/)
})

it('an operator process encrypts the secrets with the new key of a rotation, and no delivery fails', async () => {
  const receiver = closing(await RecordingReceiver.started())
  const folder = await configFolder({ 'new.key': keyFile('second'), 'old.key': keyFile('first') })
  const operator = {
    listen: '127.0.0.1:0',
    keys: [{ name: 'ada', role: 'operate', key: 'an-operator-key-of-ada' }],
    encryptionKeyFile: [join(folder, 'new.key'), join(folder, 'old.key')],
  }
  const installation = closing(await startInstallation({ operator }))
  const { topics } = installation
  await installation.write(topics.config, [created('crm', receiver, firstKey)])
  const service = await installation.run()
  const oldSeals = async () => (await service.metrics()).get('hookline_config_objects_old_key')
  expect(await oldSeals()).toBe(1)
  await until(async () => ((await oldSeals()) === 0 ? true : undefined))

  await installation.configure({ operator: { ...operator, encryptionKeyFile: join(folder, 'new.key') } })
  const reloads = 'hookline_config_reloads_total{result="applied"}'
  await until(async () => ((await service.metrics()).get(reloads) === 1 ? true : undefined))
  await installation.send(trackEvents(5))
  await receiver.untilDelivered(5)
  const records = await installation.read(topics.config)
  expect(records.map(({ headers }) => [headers['version'], headers['changed-by'], headers['fields']])).toEqual([
    ['1', 'ada', '[]'],
    ['2', 'hookline.key-rotation', '[]'],
  ])
  expect(await service.stop()).toBe(0)
})
