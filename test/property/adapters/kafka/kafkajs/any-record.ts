import fc from 'fast-check'
import type { MessageToEncode } from '../../../../../src/adapters/kafka/kafkajs/patch-record-encoder.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

export const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 100 }).map(array => Buffer.from(array)),
  fc.constantFrom(63, 64, 8_191, 8_192, 40_000).map(length => Buffer.alloc(length, 'x')),
)
const text = fc.oneof(
  fc.constantFrom('', 'destination', 'message-id', 'é'.repeat(32), 'x'.repeat(63), 'x'.repeat(64)),
  fc.string({ unit: 'grapheme', maxLength: 80 }).filter(name => !(name in {})),
)
const content = fc.oneof(bytes, text)
/** A message, often with lengths at which a varint needs one more byte. */
export const message: fc.Arbitrary<MessageToEncode> = fc.record(
  {
    offsetDelta: fc.oneof(fc.nat(200), fc.nat(2 ** 31 - 1)),
    timestampDelta: fc.oneof(fc.integer({ min: -200, max: 200 }), fc.integer({ min: -(2 ** 45), max: 2 ** 45 })),
    key: fc.option(content),
    value: fc.option(content),
    headers: fc.dictionary(text, fc.oneof(content, fc.array(content, { maxLength: 3 })), { noNullPrototype: true }),
  },
  { noNullPrototype: true },
)
export const Decoder =
  internal<new (bytes: Buffer) => { readonly buffer: Buffer; readVarInt(): number; readAll(): Buffer }>(
    'protocol/decoder',
  )

/** The bytes of a record after its length field. */
export function bodyOf(record: Buffer): Buffer {
  const decoder = new Decoder(record)
  decoder.readVarInt()
  return decoder.readAll()
}
