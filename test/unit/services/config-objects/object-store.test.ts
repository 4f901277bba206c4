import { describe, expect, it } from '@jest/globals'
import { failureRecord } from '../../../../src/core/config-objects/destination-failure-record.ts'
import { encodeRecord, type ObjectRecord } from '../../../../src/core/config-objects/object-record.ts'
import { createObjectStore } from '../../../../src/services/config-objects/object-store.ts'
import { recordOf, start } from '../../../support/builders.ts'
import { ConfigTopicHarness, configTopic } from '../../../support/config-objects/config-topic-harness.ts'
import {
  destinationDocument,
  firstKey,
  named,
  objectRecord,
  sealedValue,
  secondKey,
} from '../../../support/config-objects/example-objects.ts'
import { ScriptedFollower } from '../../../support/kafka/scripted-follower.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

const crm = named('destination', 'crm')
const unknown = { known: undefined, before: undefined }

async function setUp() {
  const harness = new ConfigTopicHarness()
  const logger = new RecordingLogger()
  const { store } = await harness.start({ logger })
  let changes = 0
  store.listen({ onChange: () => void changes++ })
  const write = (given: Parameters<typeof objectRecord>[0] = {}) => {
    const { key, value, headers } = encodeRecord(
      objectRecord({ value: sealedValue(crm, destinationDocument()), ...given }),
    )
    harness.log.write(configTopic, value, String(key), headers)
    harness.log.poll()
  }
  return { harness, logger, store, write, changes: () => changes }
}

describe('the object store', () => {
  it('reports changes, and reads a version once', async () => {
    const { store, write, changes } = await setUp()
    write()
    const first = store.object(crm)
    expect(store.object(crm)).toBe(first)
    expect([...store.objects()]).toEqual([first])
    write({ version: 2, action: 'updated' })
    write({ version: 2, action: 'updated', writeId: 'late' })
    expect(changes()).toBe(2)
    write({ version: 3, action: 'deleted', value: undefined })
    expect([store.object(crm), [...store.objects()], changes()]).toEqual([undefined, [], 3])
  })

  it('logs an excluded object once, without values, and reads it again with other keys', async () => {
    const { store, logger, write } = await setUp()
    write({ value: sealedValue(crm, destinationDocument(), secondKey) })
    store.object(crm)
    store.object(crm)
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { kind: 'destination', id: 'crm', version: 1 } }])
    expect(JSON.stringify(logger.lines)).not.toMatch(/of-the-crm/)
    store.readAgain({ keys: [firstKey, secondKey], context: {} })
    expect(store.object(crm)?.problems).toEqual([])
  })

  it('ignores damaged records, and asks for a copy of the object', async () => {
    const { harness, logger, store, write } = await setUp()
    write()
    harness.log.write(configTopic, Buffer.from('x'), 'destination/crm', { version: '2' })
    harness.log.write(configTopic, Buffer.from('x'), 'something')
    harness.log.poll()
    expect(store.object(crm)?.problems).toEqual([])
    expect(store.allToCopy()).toEqual([crm])
    expect(logger.lines.map(({ fields }) => fields['detail'])).toEqual([
      'a header is invalid or missing: "version", "changed-at" and "action" are required, "copy" is optional',
      'the key of the record is not destination/<id>, source/<id> or failures/<id>',
    ])
  })

  it('says when the changes of a batch that cannot be read were made', async () => {
    const { harness, logger, store, write } = await setUp()
    write()
    const unreadBatch = { firstOffset: 1, length: 9, bytes: Buffer.of(1), why: 'the checksum is wrong' }
    harness.log.writeUnreadBatch(configTopic, unreadBatch)
    harness.log.poll()
    expect(store.object(crm)?.problems).toEqual([])
    expect(logger.lines).toMatchObject([
      {
        level: 'error',
        fields: { topic: configTopic, firstOffset: 1, detail: 'the checksum is wrong', writtenAt: expect.any(String) },
        line: expect.stringContaining('may miss some changes'),
      },
    ])
  })

  it('builds the objects again when the follower begins again after a truncation of the log', async () => {
    const follower = new ScriptedFollower()
    const reading = { keys: [firstKey], context: {} }
    const store = createObjectStore({ follower, topic: configTopic, logger: silent, reading, clock: new ManualClock() })
    await store.start()
    const value = sealedValue(crm, destinationDocument())
    const first = objectRecord({ value })
    const second = { value, version: 2, action: 'updated', fields: ['paused'] } as const
    const lost = objectRecord({ ...second, writeId: 'lost' })
    const other = objectRecord({ ...second, writeId: 'other', by: 'bob' })
    const at = (offset: number, record: ObjectRecord) =>
      recordOf({ ...encodeRecord(record), topic: configTopic, offset })
    follower.deliver(at(0, first), at(1, lost))
    follower.truncate(0)
    follower.deliver(at(0, first), at(1, other))
    expect(store.known(crm)?.writeId).toBe('lost')
    follower.becomeCurrent()
    expect(store.known(crm)).toMatchObject({ version: 2, by: 'bob' })
    expect(store.changes().changes).toHaveLength(2)
  })

  it('has objects that grow old while the topic cannot be read', async () => {
    const harness = new ConfigTopicHarness()
    const { store, follower } = await harness.start()
    await harness.advance(1_000)
    expect(store.age()).toBe(0)
    follower.isCutOff = true
    await harness.advance(60_000)
    expect(store.age()).toBe(60_000)
    follower.isCutOff = false
    harness.log.poll()
    expect(store.age()).toBe(0)
  })

  it('keeps the objects and failure states of which Kafka lost all records, and reports them', async () => {
    const { harness, logger, store, write, changes } = await setUp()
    const state = { urls: 'a', version: 1, failingSince: start, attempts: 1, gone: [], disabled: undefined }
    const failures = failureRecord({ ...{ id: 'crm', by: 'hookline', at: start, writeId: 'f' }, state, ...unknown })
    write()
    write(failures)
    write({ id: 'erp', value: sealedValue(named('destination', 'erp'), destinationDocument()) })
    const before = [store.object(crm), store.failures.get('crm'), changes()]
    harness.log.createAgain(configTopic)
    write({ id: 'erp', version: 2, action: 'deleted', value: undefined })
    expect([store.object(crm), store.failures.get('crm'), changes()]).toEqual([...before.slice(0, 2), 3])
    expect([...store.objects()].map(({ id }) => id)).toEqual(['crm'])
    expect(store.allToCopy()).toEqual([crm, { kind: 'failures', id: 'crm' }])
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { topic: configTopic, count: 2 } }])
  })
})
