import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { internal } from '../../../../../src/adapters/kafka/internals.ts'
import { crc32c } from '../../../../../src/adapters/kafka/patches/checksum.ts'
import { type DecodeRecord, decodeRecord } from '../../../../../src/adapters/kafka/patches/record-decoder.ts'
import {
  type EncodedRecord,
  encodeRecord,
  type MessageToEncode,
} from '../../../../../src/adapters/kafka/patches/record-encoder.ts'

// As kafkajs has them: nothing here loads it with its cures.
const theirEncode = internal<(message: MessageToEncode) => EncodedRecord>('protocol/recordBatch/record/v0/index')
const theirDecode = internal<DecodeRecord>('protocol/recordBatch/record/v0/decoder')
const theirChecksum = internal<(bytes: Buffer) => number>('protocol/recordBatch/crc32C/index')
const Decoder =
  internal<new (bytes: Buffer) => { readonly buffer: Buffer; readVarInt(): number; readAll(): Buffer }>(
    'protocol/decoder',
  )

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 100 }).map(array => Buffer.from(array)),
  fc.constantFrom(63, 64, 8_191, 8_192, 40_000).map(length => Buffer.alloc(length, 'x')),
)
const text = fc.oneof(
  fc.constantFrom('', 'destination', 'message-id', 'é'.repeat(32), 'x'.repeat(63), 'x'.repeat(64)),
  fc.string({ unit: 'grapheme', maxLength: 80 }).filter(name => !(name in {})),
)
const content = fc.oneof(bytes, text)
const message: fc.Arbitrary<MessageToEncode> = fc.record(
  {
    offsetDelta: fc.oneof(fc.nat(200), fc.nat(2 ** 31 - 1)),
    timestampDelta: fc.oneof(fc.integer({ min: -200, max: 200 }), fc.integer({ min: -(2 ** 45), max: 2 ** 45 })),
    key: fc.option(content),
    value: fc.option(content),
    headers: fc.dictionary(text, fc.oneof(content, fc.array(content, { maxLength: 3 })), { noNullPrototype: true }),
  },
  { noNullPrototype: true },
)
const batch = fc.record({
  firstOffset: fc.oneof(fc.maxSafeNat(), fc.constant(2n ** 62n)).map(String),
  firstTimestamp: fc.oneof(fc.constant(-1), fc.nat(2 ** 45)).map(String),
  maxTimestamp: fc.nat(2 ** 45).map(String),
  magicByte: fc.constant(2),
  isControlBatch: fc.boolean(),
  timestampType: fc.constantFrom(0, 1),
})

/** Behind its length. */
function bodyOf(record: Buffer): Buffer {
  const decoder = new Decoder(record)
  decoder.readVarInt()
  return decoder.readAll()
}

describe('records are as kafkajs has them', () => {
  it('written', () => {
    fc.assert(fc.property(message, given => encodeRecord(given).buffer.equals(theirEncode(given).buffer)))
  })

  it('read', () => {
    fc.assert(
      fc.property(message, batch, (given, context) => {
        const body = bodyOf(encodeRecord(given).buffer)
        const read = decodeRecord(new Decoder(body), context)
        expect(read).toStrictEqual(theirDecode(new Decoder(body), context))
      }),
    )
  })

  it('summed up', () => {
    fc.assert(
      fc.property(fc.oneof(bytes, fc.uint8Array({ maxLength: 4_000 }).map(Buffer.from)), each => {
        expect(crc32c(each as Buffer)).toBe(theirChecksum(each as Buffer))
      }),
    )
  })
})

it.each([
  { name: 'that come more than once keep all their values, in their order', headers: { a: ['1', '2', '3'], b: 'x' } },
  // kafkajs adds its own to what every object has of such a name.
  { name: 'may have any name', headers: JSON.parse('{"__proto__":"1","constructor":["2","3"],"toString":"4"}') },
])('headers $name', ({ headers }) => {
  const body = bodyOf(encodeRecord({ headers }).buffer)
  const read = decodeRecord(new Decoder(body), { firstOffset: '0', firstTimestamp: '0', magicByte: 2 }).headers
  const asText = (value: unknown): unknown => (Array.isArray(value) ? value.map(String) : String(value))
  expect(Object.entries(read).map(([name, value]) => [name, asText(value)])).toEqual(Object.entries(headers))
})
