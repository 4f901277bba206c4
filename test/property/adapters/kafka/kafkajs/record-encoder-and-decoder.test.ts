import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type DecodeRecord, decodeRecord } from '../../../../../src/adapters/kafka/kafkajs/patch-record-decoder.ts'
import {
  crc32c,
  type EncodedRecord,
  encodeRecord,
  type MessageToEncode,
} from '../../../../../src/adapters/kafka/kafkajs/patch-record-encoder.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { bodyOf, bytes, Decoder, message } from './any-record.ts'

// Functions of kafkajs itself, without Hookline's patches.
const theirEncode = internal<(message: MessageToEncode) => EncodedRecord>('protocol/recordBatch/record/v0/index')
const theirDecode = internal<DecodeRecord>('protocol/recordBatch/record/v0/decoder')
const theirChecksum = internal<(bytes: Buffer) => number>('protocol/recordBatch/crc32C/index')

const batch = fc.record({
  firstOffset: fc.oneof(fc.maxSafeNat(), fc.constant(2n ** 62n)).map(String),
  firstTimestamp: fc.oneof(fc.constant(-1), fc.nat(2 ** 45)).map(String),
  maxTimestamp: fc.nat(2 ** 45).map(String),
  magicByte: fc.constant(2),
  isControlBatch: fc.boolean(),
  timestampType: fc.constantFrom(0, 1),
})

describe('records equal those of kafkajs', () => {
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

  it('summaries are equal for any start', () => {
    const some = fc.oneof(bytes, fc.uint8Array({ maxLength: 4_000 }).map(Buffer.from)) as fc.Arbitrary<Buffer>
    fc.assert(
      fc.property(some, fc.nat(7), (each, from) => {
        const place = Buffer.allocUnsafeSlow(from + each.length).subarray(from)
        each.copy(place)
        expect(crc32c(place)).toBe(theirChecksum(each))
      }),
    )
  })
})

it.each([
  { name: 'that come more than once keep all their values, in their order', headers: { a: ['1', '2', '3'], b: 'x' } },
  // With these names, which are inherited properties, kafkajs returns a wrong result, so this test
  // does not compare with kafkajs.
  { name: 'may have any name', headers: JSON.parse('{"__proto__":"1","constructor":["2","3"],"toString":"4"}') },
])('headers $name', ({ headers }) => {
  const body = bodyOf(encodeRecord({ headers }).buffer)
  const read = decodeRecord(new Decoder(body), { firstOffset: '0', firstTimestamp: '0', magicByte: 2 }).headers
  const asText = (value: unknown): unknown => (Array.isArray(value) ? value.map(String) : String(value))
  expect(Object.entries(read).map(([name, value]) => [name, asText(value)])).toEqual(Object.entries(headers))
})
