import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { processClock } from '../../src/adapters/clock/process-clock.ts'
import type { ObjectChange } from '../../src/core/config-objects/config-objects.ts'
import { encodeRecord, encodeValue } from '../../src/core/config-objects/object-record.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { createAdminClient, until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

it('notices about an outage that two processes see are signed, and each arrives once', async () => {
  const ops = closing(await RecordingReceiver.started())
  const crm = closing(await RecordingReceiver.started({ answers: [410] }))
  const at = (id: string, { url }: RecordingReceiver, sources: string[]) => ({
    ...{ id, sources, webhooks: [{ url }] },
    sharedSecret: testSecret(`shared-by-${id}`),
  })
  const destinations = [at('crm', crm, ['web']), at('ops', ops, ['none'])]
  const sources = [
    { id: 'web', writeKey: testSecret('web-key') },
    { id: 'none', writeKey: testSecret('unused-key') },
  ]
  const folder = await configFolder({ key: randomBytes(32).toString('base64') })
  const operator = { encryptionKeyFile: join(folder, 'key') }
  const config = { operator, sources, destinations, notices: { destination: 'ops' } }
  const installation = closing(await startInstallation(config))
  const services = [await installation.run(), await installation.run()]
  const admin = closing(await createAdminClient())
  // Wait until each process owns two of the four partitions, so that both processes see the outage.
  await until(async () => {
    const { dispatcherGroup, events } = installation.topics
    const owned = [...((await admin.members(dispatcherGroup, events)) ?? new Map()).values()]
    return (owned.length === 2 && owned.every(({ length }) => length === 2)) || undefined
  })
  await installation.send(trackEvents(40))
  const notices = () => ops.requests.map(({ body }) => JSON.parse(body) as { event: string; properties: object })
  const named = (event: string) => notices().filter(notice => notice.event === event)
  const counted = () =>
    named('Deliveries Dead-Lettered').reduce((sum, { properties }) => sum + (properties as { count: number }).count, 0)
  await ops.until(() => named('Destination Gone').length > 0 && counted() === 40)
  expect(named('Destination Gone')[0]).toMatchObject({
    ...{ type: 'track', anonymousId: 'destination/crm' },
    properties: { destination: 'crm', webhooks: ['0'] },
  })
  expect(ops.requests.every(({ headers }) => headers['x-signature'] !== undefined)).toBe(true)

  await installation.configure({ ...config, destinations: [{ ...destinations[0], enabled: false }, destinations[1]] })
  await ops.until(() => named('Destination Disabled').length > 0)
  expect(named('Destination Disabled')).toEqual([expect.objectContaining({ properties: { destination: 'crm' } })])

  const name = { kind: 'destination', id: 'lake' } as const
  const value = encodeValue({ id: name.id, sources: ['none'], webhooks: [{ url: crm.url }] })
  const change = async (version: number, action: ObjectChange['action']): Promise<void> => {
    const author = { by: 'ada', at: processClock.now(), fields: ['webhooks[0].url'] }
    await installation.write(installation.topics.config, [
      encodeRecord({ ...name, ...author, version, action, value, writeId: `w${version}`, copy: 0 }),
    ])
    await ops.until(() => named('Configuration Changed').length >= version)
  }
  await change(1, 'created')
  // Each process writes its notices every 5 s, so all earlier notices are written when the notice
  // of this change arrives.
  await change(2, 'updated')
  await Promise.all(services.map(service => service.stop()))
  expect(named('Destination Gone')).toHaveLength(1)
  expect(counted()).toBe(40)
  expect(named('Destination Disabled')).toHaveLength(1)
  expect(named('Configuration Changed').map(({ properties }) => properties)).toEqual(
    ['created', 'updated'].map(action =>
      expect.objectContaining({ ...name, action, changedBy: 'ada', fields: ['webhooks[0].url'] }),
    ),
  )
  // `ops` gets neither events of a source nor the internal events from which Hookline makes
  // notices.
  expect(new Set(notices().map(({ event }) => event))).toEqual(
    new Set(['Destination Gone', 'Deliveries Dead-Lettered', 'Destination Disabled', 'Configuration Changed']),
  )
})
