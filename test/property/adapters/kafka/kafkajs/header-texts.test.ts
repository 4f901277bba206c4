import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  type DecodeRecord,
  decodeRecord,
  readHeadersAsText,
} from '../../../../../src/adapters/kafka/kafkajs/patch-record-decoder.ts'
import { encodeRecord } from '../../../../../src/adapters/kafka/kafkajs/patch-record-encoder.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { toHeaderTexts } from '../../../../../src/adapters/kafka/log/to-log-record.ts'
import { bodyOf, Decoder, message } from './any-record.ts'

const theirDecode = internal<DecodeRecord>('protocol/recordBatch/record/v0/decoder')
const batch = { firstOffset: '0', firstTimestamp: '0', magicByte: 2 }

const ours = (body: Buffer) => decodeRecord(new Decoder(body), batch)

it('headers as text equal the headers that kafkajs has as bytes', () => {
  const body = bodyOf(encodeRecord({ headers: { a: 'b' } }).buffer)
  expect(ours(body).headers['a']).toBeInstanceOf(Buffer)
  readHeadersAsText()
  fc.assert(
    fc.property(message, record => {
      const body = bodyOf(encodeRecord(record).buffer)
      const { headers, ...read } = ours(body)
      const { headers: bytes, ...theirs } = theirDecode(new Decoder(body), batch)
      expect(read).toStrictEqual(theirs)
      const given = headers as Parameters<typeof toHeaderTexts>[0]
      expect(toHeaderTexts(given)).toEqual(toHeaderTexts(bytes as Record<string, Buffer | Buffer[]>))
      // The decoder leaves headers of more than 64 KiB as bytes. If all headers are texts,
      // `toHeaderTexts` returns the same object.
      const isText = Object.values(headers).every(value => typeof value === 'string')
      expect(toHeaderTexts(given) === given).toBe(isText)
    }),
    { numRuns: 500 },
  )
})
