import { describe, expect, it } from '@jest/globals'
import type {
  ChangeOutcome,
  DocumentRequest,
  ObjectDocument,
} from '../../../../src/core/config-objects/config-objects.ts'
import { encodeRecord, type ObjectName } from '../../../../src/core/config-objects/object-record.ts'
import { changing, configTopic, oneOperator } from '../../../support/config-objects/config-topic-harness.ts'
import {
  destinationDocument,
  fileSettings,
  named,
  objectRecord,
  sealedValue,
  sourceDocument,
} from '../../../support/config-objects/example-objects.ts'

const version = (number: number) => ({ expected: { kind: 'version', version: number } }) as const
const absent = { expected: { kind: 'absent' } } as const

describe('a change', () => {
  it('creates, updates and deletes an object, and every version follows the one before it', async () => {
    const { harness, process, change } = await oneOperator()
    expect(await change(destinationDocument(), absent)).toMatchObject({
      kind: 'changed',
      created: true,
      changedFields: ['id', 'sharedSecret', 'sources', 'webhooks'],
      object: { id: 'crm', origin: 'api', version: 1, changedBy: 'ada', state: 'used', isConflict: false },
    })
    const paused = await change(current => ({ ...current, paused: true }), version(1))
    expect(paused).toMatchObject({ kind: 'changed', created: false, changedFields: ['paused'], object: { version: 2 } })
    expect(process.objects.get('destination', 'crm')).toMatchObject({ version: 2, document: { paused: true } })
    expect(await change(undefined, version(2))).toEqual({
      kind: 'changed',
      created: false,
      object: undefined,
      changedFields: [],
    })
    expect(process.objects.get('destination', 'crm')).toBeUndefined()
    expect(await change(destinationDocument(), absent)).toMatchObject({ created: true, object: { version: 4 } })
    expect(harness.written()).toEqual(['1 created', '2 updated', '3 deleted', '4 created'])
  })

  it('needs a merge for the answer to an update, but not to a deletion', async () => {
    const { process, change } = await oneOperator()
    await change(destinationDocument())
    expect(process.latestCalls()).toBe(1)
    await change(undefined)
    expect(process.latestCalls()).toBe(1)
  })

  it('shows the secrets of the answer masked, and gives them in plain text to the next change', async () => {
    const { change } = await oneOperator()
    const created = await change(destinationDocument())
    expect(JSON.stringify(created)).not.toMatch(/of-the-crm/)
    let seen: ObjectDocument | undefined
    await change(current => {
      seen = current
      return current
    })
    expect(seen).toEqual({ id: 'crm', ...destinationDocument() })
  })

  it('keeps a masked secret, and never writes a plain one to Kafka', async () => {
    const { harness, process, change } = await oneOperator()
    await change(destinationDocument())
    const shown = process.objects.get('destination', 'crm')!.document
    expect(await change(shown)).toMatchObject({ kind: 'unchanged', object: { version: 1 } })
    expect(await change({ ...shown, sharedSecret: 'another-shared-secret' })).toMatchObject({
      changedFields: ['sharedSecret'],
    })
    const bytes = harness.log
      .records(configTopic)
      .map(({ key, value, headers }) => `${key} ${value} ${JSON.stringify(headers)}`)
    expect(bytes.join('\n')).not.toMatch(/of-the-crm|another-shared-secret/)
  })

  it.each<[string, Partial<DocumentRequest>, ObjectDocument | undefined, ChangeOutcome]>([
    ['an old version', version(7), destinationDocument(), { kind: 'conflict', version: 1 }],
    ['an object that must not exist', absent, destinationDocument(), { kind: 'conflict', version: 1 }],
    [
      'a version of an object that does not exist',
      { id: 'erp', ...version(1) },
      destinationDocument(),
      { kind: 'conflict', version: undefined },
    ],
    ['the deletion of an object that does not exist', { id: 'erp' }, undefined, { kind: 'not_found' }],
    ['an object of the file', { id: 'file-crm' }, destinationDocument(), { kind: 'defined_in_file' }],
  ])('writes nothing for %s', async (_, given, next, outcome) => {
    const { harness, change } = await oneOperator()
    await change(destinationDocument())
    expect(await change(next, given)).toEqual(outcome)
    expect(harness.written()).toEqual(['1 created'])
  })

  it('is refused with all problems, also those that follow from other objects', async () => {
    const { change } = await oneOperator()
    expect(await change({ sources: ['wep'], webhooks: [] })).toMatchObject({
      kind: 'refused',
      problems: [{ path: ['webhooks'], message: 'must have at least one entry' }],
    })
    expect(await change(destinationDocument({ sources: ['wep'] }))).toMatchObject({
      problems: [{ path: ['sources', 0], message: 'no source has this id', hint: 'did you mean web?' }],
    })
    const source = { kind: 'source', id: 'app' } as const
    expect(await change(sourceDocument({ writeKey: ['a-good-write-key', 'write-key-of-web'] }), source)).toMatchObject({
      problems: [{ path: ['writeKey', 1], message: 'is also the write key of another source' }],
    })
    expect(await change(destinationDocument({ id: 'x'.repeat(64) }), { id: 'x'.repeat(64) })).toMatchObject({
      problems: [{ path: ['id'] }],
    })
    const long = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`source-${index}`, index]))
    expect(await change(destinationDocument({ sources: Object.keys(long) }))).toMatchObject({ kind: 'refused' })
  })

  it('of an object with a problem may pause and disable it', async () => {
    const { harness, change } = await oneOperator()
    await change(destinationDocument({ webhooks: [{ url: 'http://hooks.example.com/' }] }))
    const file = fileSettings({ network: { httpsOnly: true } })
    const later = changing(harness, await harness.start({ file }))
    const changed = { kind: 'changed', object: { state: 'excluded' } }
    expect(await later(current => ({ ...current, paused: true }))).toMatchObject(changed)
    expect(await later(current => ({ ...current, enabled: false }))).toMatchObject(changed)
    expect(await later(current => ({ ...current, filter: {} }))).toMatchObject({ kind: 'refused' })
  })

  it('cannot give a destination a policy that exceeds `delivery`, but keeps that of an earlier `delivery`', async () => {
    const { harness, change } = await oneOperator()
    const policy = { timeout: '3s' }
    await change(destinationDocument({ policy }))
    const process = await harness.start({ file: fileSettings({ delivery: { timeout: '2s' } }) })
    const later = changing(harness, process)
    expect(process.objects.get('destination', 'crm')).toMatchObject({ state: 'used' })
    expect(await later(current => ({ ...current, filter: {} }))).toMatchObject({ object: { state: 'used' } })
    expect(await later(destinationDocument({ policy: { timeout: '4s' } }))).toMatchObject({
      kind: 'refused',
      problems: [{ path: ['policy', 'timeout'], message: 'must be more than 0 and at most 2s, not 4s' }],
    })
    expect(await later(destinationDocument({ policy }), { id: 'erp' })).toMatchObject({ kind: 'refused' })
  })

  it('of a source says `used` if the source got its key before another source', async () => {
    const { harness, process, change } = await oneOperator()
    const [app, late] = [named('source', 'app'), named('source', 'late')]
    await change(sourceDocument(), app)
    const { key, value, headers } = encodeRecord(objectRecord({ ...late, value: sealedValue(late, sourceDocument()) }))
    harness.log.write(configTopic, value, String(key), headers)
    await harness.settled(process.store.caughtUp())
    const add = (name: ObjectName) =>
      change(current => ({ ...current, writeKey: ['write-key-of-the-app', `new-key-of-${name.id}`] }), name)
    expect(await add(app)).toMatchObject({ kind: 'changed', object: { state: 'used', problems: [] } })
    expect(await add(late)).toMatchObject({ kind: 'changed', object: { state: 'excluded' } })
    expect(process.objects.list('source').map(({ id, state }) => [id, state])).toEqual([
      ['app', 'used'],
      ['late', 'excluded'],
      ['web', 'used'],
    ])
  })

  it('refers to a source that was created just before, which cannot be deleted while it is used', async () => {
    const { change } = await oneOperator()
    const source = { kind: 'source', id: 'app' } as const
    await change(sourceDocument(), source)
    expect(await change(destinationDocument({ sources: ['app'] }))).toMatchObject({ kind: 'changed' })
    expect(await change(undefined, source)).toMatchObject({
      kind: 'refused',
      problems: [{ message: 'this source is used by the destination crm' }],
    })
    await change(undefined)
    expect(await change(undefined, source)).toMatchObject({ kind: 'changed' })
  })

  it('does not delete a destination that an audience uses', async () => {
    const audiences = {
      list: [{ name: 'Shoppers', kind: 'audience', destinations: ['crm'] }],
      emitPerSecond: 500,
    } as const
    const { change } = await oneOperator({ file: { ...fileSettings(), audiences } })
    await change(destinationDocument())
    expect(await change(undefined)).toMatchObject({
      problems: [{ message: 'this destination is used by the audience Shoppers' }],
    })
  })

  it('does not delete a destination that gets the notices', async () => {
    const { change } = await oneOperator({ file: { ...fileSettings(), notices: { destination: 'crm' } } })
    await change(destinationDocument())
    expect(await change(undefined)).toMatchObject({
      problems: [{ message: 'this destination is used by notices.destination' }],
    })
  })

  it('is unavailable when Kafka refuses the record, or does not return it within 10 s', async () => {
    const { harness, process, change } = await oneOperator()
    harness.log.unwritable.add(configTopic)
    expect(await change(destinationDocument())).toMatchObject({ kind: 'unavailable' })
    harness.log.unwritable.delete(configTopic)
    process.follower.isCutOff = true
    const late = process.objects.change({
      kind: 'destination',
      id: 'crm',
      expected: absent.expected,
      next: () => destinationDocument(),
      by: 'ada',
    })
    await harness.advance(10_000)
    expect(await late).toMatchObject({
      kind: 'unavailable',
      detail: expect.stringContaining('did not read its new record back within 10 s'),
    })
  })

  it('that conflicts is decided again when the topic is read to its end', async () => {
    const { harness, process, change } = await oneOperator()
    const other = await harness.start()
    other.follower.isCutOff = true
    await change(destinationDocument())
    const late = other.objects.change({
      kind: 'destination',
      id: 'crm',
      ...version(1),
      by: 'bob',
      next: () => undefined,
    })
    await new Promise(resolve => setImmediate(resolve))
    other.follower.isCutOff = false
    expect(await harness.settled(late)).toMatchObject({ kind: 'changed', object: undefined })
    expect(process.objects.get('destination', 'crm')).toBeUndefined()
  })

  it('that is in force already waits for the change of another process that ended it', async () => {
    const { harness, process, change } = await oneOperator()
    const other = await harness.start()
    await change(destinationDocument({ paused: true }))
    await harness.settled(other.store.caughtUp())
    other.follower.isCutOff = true
    await change(current => ({ ...current, paused: false }))
    const again = other.objects.change({
      ...{ kind: 'destination', id: 'crm', expected: { kind: 'any' }, by: 'bob' },
      next: current => ({ ...current, paused: true }),
    })
    await new Promise(resolve => setImmediate(resolve))
    other.follower.isCutOff = false
    expect(await harness.settled(again)).toMatchObject({ kind: 'changed', changedFields: ['paused'] })
    expect(process.objects.get('destination', 'crm')).toMatchObject({ version: 3, document: { paused: true } })
  })

  it('that keeps a secret which another process has just written waits for it', async () => {
    const { harness, change } = await oneOperator()
    const other = await harness.start()
    const { sharedSecret: _, ...withoutSecret } = destinationDocument()
    await change(withoutSecret)
    await harness.settled(other.store.caughtUp())
    other.follower.isCutOff = true
    await change(current => ({ ...current, sharedSecret: 'a-shared-secret' }))
    const late = other.objects.change({
      ...{ kind: 'destination', id: 'crm', expected: { kind: 'any' }, by: 'bob' },
      next: current => ({ ...current, sharedSecret: '***', paused: true }),
    })
    await new Promise(resolve => setImmediate(resolve))
    other.follower.isCutOff = false
    expect(await harness.settled(late)).toMatchObject({ kind: 'changed', changedFields: ['paused'] })
  })

  it('gives at most 100 unknown sources', async () => {
    const { change } = await oneOperator()
    const sources = Array.from({ length: 101 }, (_, index) => `source-${index}`)
    const refused = await change(destinationDocument({ sources }))
    expect(refused).toMatchObject({ kind: 'refused', problems: { length: 100 } })
  })

  it('is not possible without a key', async () => {
    const { change } = await oneOperator({ keys: [] })
    expect(await change(destinationDocument())).toMatchObject({ kind: 'unavailable' })
  })
})
