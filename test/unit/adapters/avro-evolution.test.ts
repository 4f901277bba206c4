import { beforeEach, describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../src/adapters/avro/event-codec.ts'
import type { EventCodec } from '../../../src/core/ports.ts'
import { epochMs } from '../../../src/core/time.ts'
import {
  eventsTopic,
  MemoryRegistry,
  schemaWith,
  trackEvent,
  written,
} from '../../support/kafka/memory-schema-registry.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const recordTime = epochMs(1_765_000_000_000)
let registry: MemoryRegistry
let codec: EventCodec

beforeEach(async () => {
  registry = new MemoryRegistry()
  codec = await createEventCodec({ registry, eventsTopic, clock: new ManualClock() })
})

/**
 * Decodes the record of a producer with another schema. The first decoding fails, because the codec
 * must fetch the schema first.
 */
async function decodeWritten(schema: object, value: object) {
  const id = registry.add(schema)
  const record = written(id, schema, value)
  expect(codec.decode(record, recordTime)).toEqual({ kind: 'schema_needed', schemaId: id })
  expect(await codec.learn(id)).toBe(true)
  return codec.decode(record, recordTime)
}

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
