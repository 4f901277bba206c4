import { describe, expect, it } from '@jest/globals'
import { decodeRecord, encodeRecord } from '../../../../src/core/config-objects/object-record.ts'
import { copyOf } from '../../../../src/core/config-objects/objects-from-topic.ts'
import { undoOf } from '../../../../src/core/config-objects/record-that-undoes-change.ts'
import type { Destination } from '../../../../src/core/settings/settings.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { start } from '../../../support/builders.ts'
import {
  ConfigTopicHarness,
  changing,
  configTopic,
  oneOperator,
} from '../../../support/config-objects/config-topic-harness.ts'
import {
  destinationDocument,
  encryptionKey,
  fileSettings,
  firstKey,
  named,
  objectRecord,
  sealedValue,
  secondKey,
} from '../../../support/config-objects/example-objects.ts'

const crm = named('destination', 'crm')
const later = epochMs(start + 60_000)

type Process = Awaited<ReturnType<ConfigTopicHarness['start']>>

const inUse = ({ merged }: Pick<Process, 'merged'>, id = 'crm'): Destination | undefined =>
  merged().settings.destinations.find(destination => destination.id === id)

describe('a destination of the config topic', () => {
  it('keeps its creation time over all changes, until it is deleted and created again', async () => {
    const { harness, process, change } = await oneOperator()
    await change(destinationDocument())
    const first = inUse(process)?.createdAt
    expect(first).toBe(harness.clock.now())
    await harness.advance(60_000)
    await change(current => ({ ...current, paused: true }))
    expect(inUse(process)).toMatchObject({ paused: true, createdAt: first })
    await changing(harness, await harness.start({ keys: [secondKey, firstKey] }))(current => current)
    const restarted = await harness.compacted().start({ keys: [secondKey] })
    expect(inUse(restarted)?.createdAt).toBe(first)
    await change(undefined)
    await harness.advance(60_000)
    await change(destinationDocument())
    expect(inUse(process)?.createdAt).toBe(harness.clock.now())
    const times = harness.log.records(configTopic).map(({ headers }) => headers['created-at'])
    const [created, again] = [first!, harness.clock.now()].map(at => new Date(at).toISOString())
    expect(times).toEqual([created, created, created, undefined, again])
  })

  it('keeps its creation time when it is paused although it cannot be decrypted', async () => {
    const { harness, change } = await oneOperator()
    await change(destinationDocument())
    const unreadable = await harness.start({ keys: [encryptionKey('third')] })
    const createdAt = harness.clock.now()
    await harness.advance(60_000)
    await changing(harness, unreadable)(current => ({ ...current, paused: true }))
    // While its secrets are unreadable, its messages wait, so nothing may depend on the time.
    expect(inUse(unreadable)).toMatchObject({ isPlaceholder: true })
    expect(inUse(unreadable)).not.toHaveProperty('createdAt')
    expect(inUse(await harness.start())).toMatchObject({ paused: true, createdAt })
  })

  it('has no creation time if an earlier version created it, also after a change', async () => {
    const harness = new ConfigTopicHarness()
    const { key, value, headers } = encodeRecord(objectRecord({ value: sealedValue(crm, destinationDocument()) }))
    harness.log.write(configTopic, value, String(key), headers)
    const process = await harness.start()
    await changing(harness, process)(current => ({ ...current, paused: true }))
    expect(inUse(process)?.paused).toBe(true)
    expect(inUse(process)).not.toHaveProperty('createdAt')
  })

  it('gets a new creation time although its document is the same, byte for byte', async () => {
    const harness = new ConfigTopicHarness()
    const process = await harness.start()
    const value = sealedValue(crm, destinationDocument())
    const write = (given: Parameters<typeof objectRecord>[0]) => {
      const { key, value: bytes, headers } = encodeRecord(objectRecord(given))
      harness.log.write(configTopic, bytes, String(key), headers)
      harness.log.poll()
    }
    write({ value, createdAt: start })
    expect(inUse(process)?.createdAt).toBe(start)
    write({ version: 2, action: 'deleted' })
    write({ version: 3, value, createdAt: later })
    expect(inUse(process)?.createdAt).toBe(later)
  })

  it('does not give its creation time to a destination of the file with its id', async () => {
    const { harness, change } = await oneOperator()
    await change(destinationDocument())
    const ofFile = { id: 'crm', sources: ['web'], webhooks: [{ url: 'https://file.example.com/' }] }
    const process = await harness.start({ file: fileSettings({ destinations: [ofFile] }) })
    expect(process.merged().conflicts).toEqual(new Set(['destination/crm']))
    expect(inUse(process)).not.toHaveProperty('createdAt')
  })

  it('does not show its creation time in the operator API', async () => {
    const { process, change } = await oneOperator()
    await change(destinationDocument())
    expect(process.objects.get('destination', 'crm')?.document).not.toHaveProperty('createdAt')
  })
})

describe('a record', () => {
  const value = sealedValue(crm, destinationDocument())

  it('keeps the creation time when it is encoded, decoded and copied', () => {
    for (const record of [objectRecord({ createdAt: start }), copyOf(objectRecord({ createdAt: start }))]) {
      const { key, value: bytes, headers = {} } = encodeRecord(record)
      expect(decodeRecord(key, bytes, headers)).toMatchObject({ kind: 'record', record: { createdAt: start } })
    }
  })

  it.each(['', 'yesterday'])('with the creation time %j counts as one without it', text => {
    const { key, value: bytes, headers = {} } = encodeRecord(objectRecord())
    const decoded = decodeRecord(key, bytes, { ...headers, 'created-at': text })
    expect(decoded.kind === 'record' && decoded.record.createdAt).toBeUndefined()
  })

  it.each(['deleted', 'updated'] as const)('that undoes a change (%s) has the old creation time', async action => {
    const known = objectRecord({ value, createdAt: start })
    const harness = new ConfigTopicHarness()
    const { key, value: bytes, headers } = encodeRecord(known)
    harness.log.write(configTopic, bytes, String(key), headers)
    const { store } = await harness.start()
    const change = { ...objectRecord({ version: 2, action, at: later }), ...crm }
    const undo = undoOf(change, { known, current: store.object(crm) }, { at: later, writeId: 'undo' })
    expect(undo).toMatchObject({ version: 3, at: later, createdAt: start, value })
  })
})
