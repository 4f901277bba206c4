import { describe, expect, it } from '@jest/globals'
import { createSealRenewal } from '../../../../src/services/config-objects/seal-renewal.ts'
import { changing, oneOperator } from '../../../support/config-objects/config-topic-harness.ts'
import {
  destinationDocument,
  encryptionKey,
  fileSettings,
  firstKey,
  named,
  secondKey,
  sourceDocument,
} from '../../../support/config-objects/example-objects.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

describe('the keys', () => {
  it('are exchanged by writing the same documents again', async () => {
    const { harness, change } = await oneOperator()
    await change(destinationDocument())
    const rotated = changing(harness, await harness.start({ keys: [secondKey, firstKey] }))
    expect(await rotated(current => current)).toMatchObject({
      kind: 'changed',
      changedFields: [],
      object: { version: 2 },
    })
    expect(await rotated(current => current)).toMatchObject({ kind: 'unchanged' })
    const { objects } = await harness.start({ keys: [secondKey] })
    expect(objects.get('destination', 'crm')).toMatchObject({ state: 'used', version: 2 })
  })

  it('are exchanged by an operator process within a minute, one version for each object', async () => {
    const { harness, change } = await oneOperator()
    for (const id of ['a', 'b']) await change(destinationDocument(), { id })
    const { objects, store } = await harness.start({ keys: [secondKey, firstKey] })
    const renewal = createSealRenewal({ store, objects, clock: harness.clock, logger: silent })
    renewal.start()
    await harness.advance(61_000)
    expect(objects.list('destination').map(({ id, version }) => [id, version])).toEqual([
      ['a', 2],
      ['b', 2],
      ['file-crm', 0],
    ])
    expect(objects.changes().changes.map(({ id, version }) => [id, version])).toEqual([
      ['b', 1],
      ['a', 1],
    ])
    await harness.advance(120_000)
    expect(harness.written()).toHaveLength(4)
    const after = await harness.start({ keys: [secondKey] })
    expect([...after.store.objects()].flatMap(({ problems }) => problems)).toEqual([])
    renewal.stop()
  })

  it('are exchanged in objects that are not used; an object that cannot be decrypted is logged', async () => {
    const { harness, change } = await oneOperator()
    await change(destinationDocument(), { id: 'hidden' })
    await change(destinationDocument({ webhooks: [{ url: 'http://hooks.example.com/' }] }), { id: 'http' })
    await changing(harness, await harness.start({ keys: [encryptionKey('third')] }))(destinationDocument())
    const hiding = { id: 'hidden', sources: ['web'], webhooks: [{ url: 'https://file.example.com/' }] }
    const file = fileSettings({ network: { httpsOnly: true }, destinations: [hiding] })
    const { objects, store, merged } = await harness.start({ keys: [secondKey, firstKey], file })
    expect(merged()).toMatchObject({ counts: { used: 0, excluded: 2, conflict: 1 }, oldSeals: 3 })
    const logger = new RecordingLogger()
    const renewal = createSealRenewal({ store, objects, clock: harness.clock, logger })
    renewal.start()
    await harness.advance(180_000)
    renewal.stop()
    expect(merged().oldSeals).toBe(1)
    const warnings = logger.lines.filter(({ level }) => level === 'warn')
    const line = expect.stringContaining('set the secrets again with the operator API')
    const problems = [
      expect.stringMatching(/^sharedSecret is encrypted with a key that is not in/),
      expect.stringMatching(/^webhooks\[0\]\.url is encrypted with a key that is not in/),
      expect.stringMatching(/^webhooks\[0\]\.headers\.Authorization is encrypted with a key that is not in/),
    ]
    expect(warnings).toMatchObject([{ fields: { kind: 'destination', id: 'crm', problems }, line }])
    const after = await harness.start({ keys: [secondKey] })
    expect(after.objects.get('destination', 'hidden')).toMatchObject({ state: 'used', version: 2 })
    expect(after.objects.get('destination', 'http')).toMatchObject({ state: 'used', version: 2 })
  })

  it('are exchanged at most once an hour while two processes have them in a different order', async () => {
    const { harness, change } = await oneOperator()
    const logger = new RecordingLogger()
    await change(destinationDocument())
    const orders = [
      [firstKey, secondKey],
      [secondKey, firstKey],
    ]
    const processes = await Promise.all(orders.map(keys => harness.start({ keys })))
    const renewals = processes.map(process => createSealRenewal({ ...process, clock: harness.clock, logger }))
    for (const renewal of renewals) renewal.start()
    await harness.advance(50 * 60_000)
    expect(harness.written()).toEqual(['1 created', '2 updated'])
    const warnings = logger.lines.filter(({ level }) => level === 'warn')
    expect(warnings).toMatchObject([{ fields: { kind: 'destination', id: 'crm' } }])
    await harness.advance(60 * 60_000)
    expect(harness.written()).toEqual(['1 created', '2 updated', '3 updated'])
    for (const renewal of renewals) renewal.stop()
  })

  it('may be lost: objects are excluded until their secrets are written again', async () => {
    const { harness, change } = await oneOperator()
    await change(destinationDocument())
    const process = await harness.start({ keys: [secondKey] })
    const later = changing(harness, process)
    const lost = process.objects.get('destination', 'crm')!
    expect(lost).toMatchObject({ state: 'excluded', document: { sources: ['web'], sharedSecret: '***' } })
    expect(lost.problems[0]?.message).toBe(
      `is encrypted with a key that is not in operator.encryptionKeyFile of this process (id of the key: ${firstKey.id})`,
    )
    expect(await later(current => ({ ...current, policy: {} }))).toMatchObject({ kind: 'refused' })
    expect(await later(destinationDocument())).toMatchObject({ kind: 'changed', object: { version: 2, state: 'used' } })
  })

  it('may be lost: objects can be paused and disabled, and keep their secrets', async () => {
    const { harness, change } = await oneOperator()
    await change(destinationDocument())
    const later = changing(harness, await harness.start({ keys: [secondKey] }))
    expect(await later(current => ({ ...current, paused: true }))).toMatchObject({
      ...{ kind: 'changed', changedFields: ['paused'] },
      object: { state: 'excluded', document: { paused: true, sharedSecret: '***' } },
    })
    expect(await later(current => ({ ...current, enabled: false }))).toMatchObject({ changedFields: ['enabled'] })
    expect(await later(current => current)).toMatchObject({ kind: 'unchanged', object: { version: 3 } })
    expect(await later(current => ({ ...current }))).toMatchObject({ kind: 'refused' })
    expect(await later(current => ({ ...current, enabled: 'no' }))).toMatchObject({ kind: 'refused' })
    expect(await later(current => ({ ...current, paused: false, sharedSecret: 's' }))).toMatchObject({
      kind: 'refused',
    })
    await change(sourceDocument(), named('source', 'app'))
    expect(await later(current => ({ ...current, paused: true }), named('source', 'app'))).toMatchObject({
      kind: 'refused',
    })
    const { store } = await harness.start()
    expect(store.object({ kind: 'destination', id: 'crm' })).toMatchObject({
      problems: [],
      document: { ...destinationDocument(), paused: true, enabled: false },
    })
  })
})
