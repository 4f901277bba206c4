import { describe, expect, it } from '@jest/globals'
import { latestDestination } from '../../../../src/app/compose/compose-objects-and-log-api.ts'
import { createMergedSettings } from '../../../../src/app/compose/merged-settings.ts'
import type { Merged } from '../../../../src/core/config-objects/merge-objects.ts'
import { encodeRecord, type ObjectRecord } from '../../../../src/core/config-objects/object-record.ts'
import { Secret } from '../../../../src/core/secret.ts'
import type { Settings } from '../../../../src/core/settings/settings.ts'
import { createObjectStore } from '../../../../src/services/config-objects/object-store.ts'
import { configTopic } from '../../../support/config-objects/config-topic-harness.ts'
import {
  destinationDocument,
  fileSettings,
  keyFile,
  named,
  objectRecord,
  sealedValue,
  secondKey,
} from '../../../support/config-objects/example-objects.ts'
import { MemoryLog } from '../../../support/kafka/memory-log.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

async function setUp() {
  const clock = new ManualClock()
  const log = new MemoryLog(clock)
  const applied: Merged[] = []
  const merged = createMergedSettings({ file: fileSettings(), apply: result => void applied.push(result), clock })
  const follower = log.follower(configTopic)
  const reading = merged.readingContext()
  const store = createObjectStore({ follower, topic: configTopic, logger: silent, reading, clock })
  await store.start()
  const write = (id: string, given: Partial<ObjectRecord> = {}) => {
    const sealed = sealedValue(named('destination', id), destinationDocument())
    const { key, value, headers } = encodeRecord(objectRecord({ id, value: sealed, ...given }))
    log.write(configTopic, value, String(key), headers)
    log.poll()
  }
  const ids = () => applied.at(-1)?.settings.destinations.map(({ id }) => id)
  return { clock, merged, store, applied, write, ids }
}

describe('the merged settings', () => {
  it('have the objects that exist at the start', async () => {
    const { merged, store, applied, write, ids } = await setUp()
    write('crm')
    merged.follow(store)
    expect([applied.length, ids()]).toEqual([1, ['file-crm', 'crm']])
    expect(merged.get()).toBe(applied[0])
  })

  it('have a test message for a destination only when its sources exist', async () => {
    const { merged, store, write } = await setUp()
    merged.follow(store)
    write('crm')
    write('lost', { value: sealedValue(named('destination', 'lost'), destinationDocument({ sources: ['gone'] })) })
    expect(latestDestination({ merged }, 'crm')?.isPlaceholder).toBeUndefined()
    expect(latestDestination({ merged }, 'lost')).toMatchObject({ isPlaceholder: true })
    expect(latestDestination({ merged }, 'absent')).toBeUndefined()
  })

  it('are replaced once for all changes within 100 ms, and immediately after 100 ms without changes', async () => {
    const { clock, merged, store, applied, write, ids } = await setUp()
    merged.follow(store)
    await clock.advance(100)
    write('a')
    await clock.advance(0)
    expect([applied.length, ids()]).toEqual([2, ['file-crm', 'a']])
    for (let index = 0; index < 50; index++) write(`b-${index}`)
    await clock.advance(99)
    expect(applied).toHaveLength(2)
    await clock.advance(1)
    expect([applied.length, ids()?.length]).toEqual([3, 52])
    await clock.advance(10_000)
    expect([applied.length, clock.timers]).toEqual([3, 0])
  })

  it('have the changes of the last 100 ms in the latest merge only', async () => {
    const { clock, merged, store, applied, write } = await setUp()
    merged.follow(store)
    expect(merged.latest()).toBe(applied[0])
    write('crm')
    const idsIn = ({ settings }: Merged) => settings.destinations.map(({ id }) => id)
    expect([idsIn(merged.get()), idsIn(merged.latest())]).toEqual([['file-crm'], ['file-crm', 'crm']])
    expect(applied).toHaveLength(1)
    await clock.advance(100)
    expect(merged.latest()).toBe(applied[1])
  })

  it.each([
    [1, 100],
    [3, 300],
    [90, 400],
  ])('are replaced less often when a merge takes long: %d ms, every %d ms', async (tookMs, interval) => {
    let now = 0
    const timers: (() => void)[] = []
    const waits: number[] = []
    const clock = {
      monotonic: () => now,
      after(wait: number, run: () => void) {
        waits.push(wait)
        timers.push(run)
        return () => undefined
      },
    }
    const { store, write } = await setUp()
    const apply = (): void => {
      now += tookMs
    }
    const merged = createMergedSettings({ file: fileSettings(), apply, clock })
    merged.follow(store)
    write('a')
    expect(waits).toEqual([interval - tookMs])
    now += interval
    timers[0]!()
    write('b')
    write('c')
    expect(waits).toEqual([interval - tookMs, interval - tookMs])
  })

  it('apply a change of the file together with waiting changes of objects', async () => {
    const { clock, merged, store, applied, write, ids } = await setUp()
    merged.follow(store)
    write('crm')
    merged.applyFile({ ...fileSettings(), destinations: [] })
    expect([applied.length, ids()]).toEqual([2, ['crm']])
    await clock.advance(1_000)
    expect(applied).toHaveLength(2)
  })

  it('read the objects again when the file gives another key', async () => {
    const { merged, store, applied, write } = await setUp()
    write('crm', { value: sealedValue(named('destination', 'crm'), destinationDocument(), secondKey) })
    merged.follow(store)
    expect(applied.at(-1)?.counts).toEqual({ used: 0, excluded: 1, conflict: 0 })
    const file = fileSettings()
    const encryptionKeys = ['first', 'second'].map(name => new Secret(keyFile(name)))
    merged.applyFile({ ...file, operator: { ...file.operator, encryptionKeys } })
    expect(applied.at(-1)?.counts).toEqual({ used: 1, excluded: 0, conflict: 0 })
  })

  it('read the objects with a key that the file got while the store was starting', async () => {
    const { merged, store, applied, write } = await setUp()
    write('crm', { value: sealedValue(named('destination', 'crm'), destinationDocument(), secondKey) })
    const file = fileSettings()
    const encryptionKeys = ['first', 'second'].map(name => new Secret(keyFile(name)))
    merged.applyFile({ ...file, operator: { ...file.operator, encryptionKeys } })
    merged.follow(store)
    expect(applied.at(-1)?.counts).toEqual({ used: 1, excluded: 0, conflict: 0 })
  })

  it('exclude an object with an http:// URL while the file has network.httpsOnly', async () => {
    const { merged, store, applied, write } = await setUp()
    const document = destinationDocument({
      webhooks: [{ url: 'http://hooks.example.com/' }],
      filter: { types: ['track'] },
    })
    write('crm', { value: sealedValue(named('destination', 'crm'), document) })
    merged.follow(store)
    const crm = () => applied.at(-1)?.settings.destinations.find(({ id }) => id === 'crm')
    expect(crm()).toMatchObject({ paused: false, webhooks: [{ label: '0' }] })
    const withNetwork = (network: object) => {
      const file = fileSettings()
      return { ...file, entriesAsWritten: { ...file.entriesAsWritten, context: { network } } as never }
    }
    merged.applyFile(withNetwork({ httpsOnly: true }))
    expect(crm()).toMatchObject({ isPlaceholder: true, paused: true, sources: ['web'], webhooks: [] })
    // Without its filter, the paused `crm` would keep the excluded messages, and get them after the
    // pause.
    expect(crm()?.filter).toEqual({ types: ['track'] })
    merged.applyFile(withNetwork({ httpsOnly: false }))
    expect(crm()).toMatchObject({ paused: false, webhooks: [{ label: '0' }] })
  })

  it('keep the key that the file no longer has, because this needs a restart', async () => {
    const { merged, store, applied, write } = await setUp()
    write('crm')
    merged.follow(store)
    const { operator, ...file } = fileSettings()
    merged.applyFile({ ...file, operator: { keys: operator.keys } })
    expect(applied.at(-1)?.counts).toEqual({ used: 1, excluded: 0, conflict: 0 })
  })

  it('have no http:// URL when the file has network.httpsOnly and no longer has the key operator', async () => {
    const { merged, store, applied, write } = await setUp()
    const internal = { webhooks: [{ url: 'https://10.0.0.1/' }] }
    const plain = { webhooks: [{ url: 'http://hooks.example.com/' }] }
    for (const [id, given] of Object.entries({ internal, plain }))
      write(id, { value: sealedValue(named('destination', id), destinationDocument(given)) })
    merged.follow(store)
    const network = { allow: ['10.0.0.0/8'], httpsOnly: true }
    merged.applyFile(fileSettings({ network }))
    const placeholders = () =>
      applied.at(-1)?.settings.destinations.flatMap(({ id, isPlaceholder }) => (isPlaceholder ? [id] : []))
    expect(placeholders()).toEqual(['plain'])
    const without = (more: object): Settings => {
      const { entriesAsWritten: _, ...file } = fileSettings(more)
      return { ...file, operator: { keys: [] } }
    }
    merged.applyFile(without({ network }))
    expect(placeholders()).toEqual(['plain'])
    merged.applyFile(without({ network: { ...network, httpsOnly: false } }))
    expect(placeholders()).toEqual([])
  })

  it('show the age of the objects, and 0 without a config topic', async () => {
    const { clock, merged, store } = await setUp()
    await clock.advance(5_000)
    expect(merged.objectsAge()).toBe(0)
    merged.follow(store)
    expect(merged.objectsAge()).toBe(5_000)
  })

  it('read the objects only once while the file gives the same keys and context', async () => {
    const { merged, store, write } = await setUp()
    write('crm')
    merged.follow(store)
    const before = store.object(named('destination', 'crm'))
    merged.applyFile(fileSettings({ log: { level: 'debug' } }))
    expect(store.object(named('destination', 'crm'))).toBe(before)
  })
})
