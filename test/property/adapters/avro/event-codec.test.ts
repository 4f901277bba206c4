import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { createEventCodec } from '../../../../src/adapters/avro/event-codec.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import { messageTypes } from '../../../../src/core/message/message.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { eventsTopic, MemoryRegistry, schemaWith, trackEvent } from '../../../support/kafka/memory-schema-registry.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const registry = new MemoryRegistry()
const codec = await createEventCodec({ registry, eventsTopic, clock: new ManualClock() })
const withCollections = registry.add(
  schemaWith(fields => [
    { name: 'tags', type: { type: 'array', items: 'string' } },
    { name: 'nested', type: { type: 'array', items: { type: 'array', items: 'null' } } },
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

  const noDestinations = { kind: 'deletion' as const, id: 'd', version: undefined, destinations: [] }
  /** A delete message: its value ends with the list of its destinations. */
  const deletion: Event = {
    ...trackEvent,
    message: { ...trackEvent.message, type: 'delete', event: undefined },
    origin: { ...noDestinations, destinations: ['a', 'b'] },
  }
  const frame = (id: number) => (bytes: Uint8Array) => Buffer.from([0, 0, 0, 0, id, ...bytes])
  const bytes = fc.uint8Array({ maxLength: 200 })
  const damaged = fc
    .record({
      place: fc.nat(),
      inserted: fc.uint8Array({ minLength: 1, maxLength: 10 }),
      removed: fc.nat({ max: 10 }),
      id: fc.constantFrom(1, withCollections),
    })
    .chain(change => fc.constantFrom(trackEvent, deletion).map(written => ({ ...change, written })))
    .map(({ place, inserted, removed, id, written }) => {
      const value = [...codec.encode(written)]
      value[4] = id
      value.splice(5 + (place % (value.length - 4)), removed, ...inserted)
      return Buffer.from(value)
    })
  /** Events in which random bytes replace the length of the list of destinations or of tags. */
  const counts = fc
    .tuple(fc.uint8Array({ maxLength: 12 }), fc.boolean())
    .map(([count, isTags]) =>
      isTags
        ? Buffer.from([0, 0, 0, 0, withCollections, ...count, ...codec.encode(trackEvent).subarray(5)])
        : Buffer.concat([codec.encode({ ...deletion, origin: noDestinations }).subarray(0, -1), count]),
    )
  it.each([
    ['any bytes', bytes.map(each => Buffer.from(each))],
    ['any bytes with the id of the schema of Hookline', bytes.map(frame(1))],
    ['any bytes with the id of a foreign schema', bytes.map(frame(withCollections))],
    ['a few bytes replaced', damaged],
    ['any number of items', counts],
  ])('%s: a result in one line, never an exception, and at most one item for each byte', (_name, values) => {
    fc.assert(
      fc.property(values, value => {
        const decoded = codec.decode(value, received)
        expect(['event', 'undecodable', 'schema_needed']).toContain(decoded.kind)
        if (decoded.kind === 'undecodable') expect(decoded.detail).toMatch(/^(?!.*array length).{1,400}$/)
        if (decoded.kind === 'event')
          expect(decoded.event.origin?.destinations?.length ?? 0).toBeLessThanOrEqual(value.length)
      }),
      { numRuns: 500 },
    )
  })
})
