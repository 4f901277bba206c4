import { beforeEach, describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../src/adapters/avro/event-codec.ts'
import { RegistryUnavailable } from '../../../../src/adapters/avro/schema-registry.ts'
import { SchemaNotRegistered } from '../../../../src/adapters/avro/schema-texts-and-subject-names.ts'
import type { EventCodec } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import {
  eventsTopic,
  MemoryRegistry,
  schemaWith,
  trackEvent,
  written,
} from '../../../support/kafka/memory-schema-registry.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const recordTime = epochMs(1_765_000_000_000)
let registry: MemoryRegistry
let clock: ManualClock
let codec: EventCodec

beforeEach(async () => {
  registry = new MemoryRegistry()
  clock = new ManualClock()
  codec = await createEventCodec({ registry, eventsTopic, clock })
})

const decode = (value: Buffer) => codec.decode(value, recordTime)
/** The codec must fetch the schema of the producer first. */
async function decodeWritten(schema: object, value: object) {
  const id = registry.add(schema)
  expect(decode(written(id, schema, value))).toEqual({ kind: 'schema_needed', schemaId: id })
  expect(await codec.learn(id)).toBe(true)
  return decode(written(id, schema, value))
}

describe('events that Hookline encodes', () => {
  const { message } = trackEvent
  const deleteEvent = { ...trackEvent, message: { ...message, type: 'delete' as const, event: undefined } }
  it.each([
    ['a track', trackEvent],
    [
      'an audience event',
      {
        ...trackEvent,
        sourceId: 'hookline.audiences',
        destinationId: 'crm',
        origin: { kind: 'audience' as const, id: 'vip', version: 7 },
        message: { ...message, type: 'identify' as const },
      },
    ],
    [
      'a delete',
      {
        ...deleteEvent,
        origin: { kind: 'deletion' as const, id: 'd-1', version: undefined, destinations: ['crm', 'erp'] },
      },
    ],
    [
      'a delete without destinations',
      { ...deleteEvent, origin: { kind: 'deletion' as const, id: 'd-1', version: undefined, destinations: [] } },
    ],
    [
      'a delete by an earlier version of Hookline',
      { ...deleteEvent, origin: { kind: 'deletion' as const, id: 'd-1', version: undefined } },
    ],
    ['an event larger than the scratch buffer', { ...trackEvent, message: { ...message, name: 'ü'.repeat(30_000) } }],
  ])('%s is decoded as it was encoded', (_name, event) => {
    const value = codec.encode(event)
    expect([...value.subarray(0, 5)]).toEqual([0, 0, 0, 0, 1])
    expect(decode(value)).toStrictEqual({ kind: 'event', event })
  })

  it('a small event after a large one has its own bytes', () => {
    const large = codec.encode({ ...trackEvent, message: { ...message, name: 'x'.repeat(100_000) } })
    const first = codec.encode(trackEvent)
    codec.encode({ ...trackEvent, sourceId: 'other' })
    expect(large.length).toBeGreaterThan(100_000)
    expect(decode(first)).toStrictEqual({ kind: 'event', event: trackEvent })
  })

  it('have no codec before the schema is registered', async () => {
    registry.forgetOwn()
    await expect(createEventCodec({ registry, eventsTopic, clock })).rejects.toThrow(SchemaNotRegistered)
    await expect(createEventCodec({ registry, eventsTopic, clock })).rejects.toThrow(/hookline schemas register/)
  })
})

describe('records of foreign producers', () => {
  const minimal = {
    type: 'record',
    name: 'com.acme.Event',
    fields: [
      { name: 'type', type: 'string' },
      { name: 'sourceId', type: 'string' },
      { name: 'userId', type: 'string' },
    ],
  }

  it('need only a source and a type; the times are the record time, and the message id is empty', async () => {
    expect(await decodeWritten(minimal, { type: 'Trick', sourceId: 'web', userId: 'u-1' })).toStrictEqual({
      kind: 'event',
      event: {
        ...trackEvent,
        receivedAt: recordTime,
        canonical: false,
        message: {
          ...trackEvent.message,
          type: 'Trick',
          messageId: '',
          event: undefined,
          timestamp: recordTime,
          properties: undefined,
        },
      },
    })
  })

  it('get the receivedAt of the record as a missing timestamp', async () => {
    const schema = { ...minimal, fields: [...minimal.fields, { name: 'receivedAt', type: 'long' }] }
    const decoded = await decodeWritten(schema, { type: 'track', sourceId: 'web', userId: 'u', receivedAt: 5 })
    expect(decoded).toMatchObject({ event: { receivedAt: 5, message: { timestamp: 5 } } })
  })

  it('may have unknown fields, which are ignored, also ambiguous unions and collections', async () => {
    const own = [
      { name: 'amount', type: ['int', 'long', 'string'] },
      { name: 'tags', type: { type: 'array', items: 'string' } },
      { name: 'counts', type: { type: 'map', values: 'int' } },
    ]
    const schema = { ...minimal, fields: [...own, ...minimal.fields] }
    const value = {
      amount: { long: 5 },
      tags: ['a', 'b'],
      counts: { x: 1 },
      type: 'track',
      sourceId: 'web',
      userId: 'u',
    }
    expect(await decodeWritten(schema, value)).toMatchObject({ event: { sourceId: 'web', message: { userId: 'u' } } })
  })

  it('lose their origin, which only Hookline may set', async () => {
    const schema = schemaWith(fields => fields.filter(field => field.name !== 'canonical'))
    const decoded = await decodeWritten(schema, {
      sourceId: 'web',
      type: 'identify',
      userId: 'u',
      origin: { kind: 'audience', id: 'vip', version: 3 },
    })
    expect(decoded).toMatchObject({ kind: 'event', event: { origin: undefined } })
  })
})

describe('other versions of the schema of Hookline', () => {
  it('an older writer: fields that were added later have their defaults', async () => {
    const older = schemaWith(fields => fields.filter(({ name }) => name !== 'origin' && name !== 'integrations'))
    const decoded = await decodeWritten(older, {
      sourceId: 'web',
      type: 'track',
      messageId: 'm',
      timestamp: 1,
      canonical: true,
    })
    expect(decoded).toMatchObject({
      event: { origin: undefined, message: { integrations: undefined, messageId: 'm' } },
    })
  })

  it('a newer writer: unknown fields are ignored', async () => {
    const added = { name: 'sentAt', type: ['null', 'long'], default: null }
    const newer = schemaWith(fields => [added, ...fields, { ...added, name: 'last' }])
    const decoded = await decodeWritten(newer, {
      sourceId: 'web',
      type: 'track',
      messageId: 'm',
      timestamp: 1,
      canonical: true,
      sentAt: 9,
    })
    expect(decoded).toMatchObject({ event: { sourceId: 'web', message: { messageId: 'm', timestamp: 1 } } })
  })
})

describe('undecodable', () => {
  const ours = () => codec.encode(trackEvent)
  it.each<[string, () => Buffer, RegExp]>([
    ['empty', () => Buffer.alloc(0), /^not an Avro record with a schema id/],
    ['no magic byte', () => Buffer.from('{"type":"track"}'), /the value starts with 0x7b22747970/],
    ['a header without content', () => ours().subarray(0, 5), /^the value is corrupt, or was not written with/],
    ['truncated', () => ours().subarray(0, -1), /the value ends before the record is complete/],
    ['trailing bytes', () => Buffer.concat([ours(), Buffer.of(0)]), /the value has bytes after the record/],
    ['a union branch that does not exist', () => Buffer.concat([ours().subarray(0, -1), Buffer.of(8)]), /union index/],
  ])('%s', (_name, value, detail) => {
    expect(decode(value())).toEqual({ kind: 'undecodable', detail: expect.stringMatching(detail) })
  })

  it.each([
    ['an unknown type', { type: 'trick', messageId: 'm', timestamp: 1 }, /'trick' is not a type of message/],
    ['no message id', { type: 'track', timestamp: 1 }, /its message id is missing/],
    ['no timestamp', { type: 'track', messageId: 'm' }, /it has no timestamp/],
    [
      'an unknown origin',
      { type: 'track', messageId: 'm', userId: 'u', timestamp: 1, origin: { kind: 'x', id: 'y' } },
      /its 'origin' has the unknown kind 'x'/,
    ],
  ])('marked as canonical, but %s', async (_name, fields, detail) => {
    const schema = schemaWith(all => all)
    const decoded = await decodeWritten(schema, { sourceId: 'web', canonical: true, ...fields })
    expect(decoded).toEqual({ kind: 'undecodable', detail: expect.stringMatching(detail) })
  })

  it.each<[string, object, RegExp]>([
    ['without a source', schemaWith(fields => fields.filter(field => field.name !== 'sourceId')), /sourceId/],
    ['another record', { type: 'record', name: 'Order', fields: [{ name: 'sourceId', type: 'string' }] }, /Order/],
    ['not a record', { type: 'string' }, /string|undefined/],
    ['not Avro', { kind: 'unusable', detail: 'it is not an Avro schema' }, /it is not an Avro schema/],
  ])('the schema is not that of an event: %s', async (_name, schema, detail) => {
    const id = registry.add(schema)
    expect(await codec.learn(id)).toBe(true)
    const decoded = decode(Buffer.of(0, 0, 0, 0, id, 0))
    expect(decoded).toEqual({
      kind: 'undecodable',
      detail: expect.stringMatching(/^Hookline cannot read a value with schema 2 as an event/),
    })
    expect(decoded).toEqual({ kind: 'undecodable', detail: expect.stringMatching(detail) })
  })

  it.each([
    ['array', { type: 'array', items: 'null' }],
    ['map', { type: 'map', values: 'null' }],
    ['array in blocks', { type: 'array', items: 'null' }],
  ])('an %s that claims more items than there are bytes left', async (kind, collection) => {
    const schema = schemaWith(fields => [{ name: 'many', type: collection }, ...fields])
    const id = registry.add(schema)
    await codec.learn(id)
    // The value claims 536,870,911 items, or a block of -1 bytes. Without a check by the codec,
    // avsc would not stop reading.
    const count = kind === 'array in blocks' ? [1, 1] : [0xfe, 0xff, 0xff, 0xff, 0x03]
    const value = Buffer.from([0, 0, 0, 0, id, ...count, ...ours().subarray(5)])
    expect(decode(value)).toMatchObject({ kind: 'undecodable' })
  })
})

describe('learning a schema', () => {
  const value = (id: number) => Buffer.of(0, 0, 0, 0, id, 0)

  it('asks for an unknown id again after 30 s', async () => {
    expect(await codec.learn(2_000)).toBe(false)
    expect(await codec.learn(2_000)).toBe(false)
    expect(registry.asked).toEqual([2_000])
    await clock.advance(30_000)
    expect(await codec.learn(2_000)).toBe(false)
    expect(registry.asked).toEqual([2_000, 2_000])
  })

  it('sends one request for concurrent calls', async () => {
    const id = registry.add(schemaWith(fields => fields))
    expect(await Promise.all([codec.learn(id), codec.learn(id), codec.learn(id)])).toEqual([true, true, true])
    expect(await codec.learn(id)).toBe(true)
    expect(registry.asked).toEqual([id])
  })

  it('rejects while the registry cannot be reached, and asks again', async () => {
    const id = registry.add(new RegistryUnavailable('down'))
    await expect(codec.learn(id)).rejects.toThrow(RegistryUnavailable)
    expect(decode(value(id))).toEqual({ kind: 'schema_needed', schemaId: id })
    expect(decode(codec.encode(trackEvent))).toMatchObject({ kind: 'event' })
    registry.replace(
      id,
      schemaWith(fields => fields),
    )
    expect(await codec.learn(id)).toBe(true)
  })

  it('rejects when the registry has lost Hookline’s own schema', async () => {
    registry.forgetOwn()
    await expect(codec.learn(9)).rejects.toThrow('and schema 9 is missing or unusable')
  })
})
