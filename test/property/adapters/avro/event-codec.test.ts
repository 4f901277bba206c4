import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { createEventCodec } from '../../../../src/adapters/avro/event-codec.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import type { JsonText } from '../../../../src/core/message/json-text.ts'
import { messageTypes } from '../../../../src/core/message/message.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { eventsTopic, MemoryRegistry, schemaWith, trackEvent } from '../../../support/kafka/memory-schema-registry.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const registry = new MemoryRegistry()
const codec = await createEventCodec({ registry, eventsTopic, clock: new ManualClock() })
const withCollections = registry.add(
  schemaWith(fields => [
    { name: 'tags', type: { type: 'array', items: 'string' } },
    ...fields,
    { name: 'counts', type: { type: 'map', values: ['null', 'long'] } },
  ]),
)
await codec.learn(withCollections)
const received = epochMs(1)

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const optional = fc.option(text, { nil: undefined })
const fragment = fc.option(
  fc.object().map(value => JSON.stringify(value) as JsonText),
  { nil: undefined },
)
/** Times in the years 0001 to 9999. */
const time = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }).map(epochMs)
const event: fc.Arbitrary<Event> = fc.record({
  sourceId: text,
  destinationId: optional,
  receivedAt: time,
  canonical: fc.constant(false),
  origin: fc.constant(undefined),
  message: fc.record({
    type: fc.constantFrom(...messageTypes),
    messageId: fc.string({ minLength: 1 }),
    userId: optional,
    anonymousId: optional,
    groupId: optional,
    previousId: optional,
    event: optional,
    name: optional,
    category: optional,
    timestamp: time,
    properties: fragment,
    traits: fragment,
    context: fragment,
    integrations: fragment,
  }),
})

describe('the event codec', () => {
  it('decodes every foreign event unchanged', () => {
    fc.assert(
      fc.property(event, each => {
        expect(codec.decode(codec.encode(each), received)).toEqual({ kind: 'event', event: each })
      }),
    )
  })

  const frame = (id: number) => (bytes: Uint8Array) => Buffer.from([0, 0, 0, 0, id, ...bytes])
  const bytes = fc.uint8Array({ maxLength: 200 })
  const damaged = fc
    .tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.constantFrom(1, withCollections))
    .map(([place, byte, id]) => {
      const value = codec.encode(trackEvent)
      value[4] = id
      value[5 + (place % (value.length - 5))] = byte
      return value
    })
  it.each([
    ['any bytes', bytes.map(each => Buffer.from(each))],
    ['any bytes with the id of the schema of Hookline', bytes.map(frame(1))],
    ['any bytes with the id of a foreign schema', bytes.map(frame(withCollections))],
    ['one byte changed', damaged],
  ])('%s: a result in one line, never an exception', (_name, values) => {
    fc.assert(
      fc.property(values, value => {
        const decoded = codec.decode(value, received)
        expect(['event', 'undecodable', 'schema_needed']).toContain(decoded.kind)
        if (decoded.kind === 'undecodable') expect(decoded.detail).toMatch(/^.{1,400}$/)
      }),
      { numRuns: 500 },
    )
  })
})
