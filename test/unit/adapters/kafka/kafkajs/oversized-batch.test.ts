import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { maxDecompressedBytes } from '../../../../../src/adapters/kafka/kafkajs/compression-codecs.ts'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { maxRecords } from '../../../../../src/adapters/kafka/kafkajs/patch-fetched-batches.ts'
import { decodeRecord, readHeadersAsText } from '../../../../../src/adapters/kafka/kafkajs/patch-record-decoder.ts'
import { type FetchedMessage, internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { toHeaderTexts } from '../../../../../src/adapters/kafka/log/to-log-record.ts'
import { decodeRecordSet, rawBatch } from './record-batches.ts'

const zstd = 4
const headBytes = 61

beforeAll(() => {
  loadKafkajs()
})

/** A batch with compressed records and the append time 7. */
async function packed(batch: Buffer, records = batch.subarray(headBytes)): Promise<Buffer> {
  const bytes = Buffer.concat([batch.subarray(0, headBytes), await promisify(zstdCompress)(records)])
  bytes.writeInt32BE(bytes.length - 12, 8)
  bytes.writeInt16BE(zstd, 21)
  bytes.writeBigInt64BE(7n, 35)
  return bytes
}

describe('a compressed batch', () => {
  it('decodes to the same records as an uncompressed one', async () => {
    const batch = rawBatch(10, 2, [0, 1, 2])
    const [plain, unpacked] = [await decodeRecordSet(batch), await decodeRecordSet(await packed(batch))]
    expect(unpacked.map(({ offset }) => offset)).toEqual(plain.map(({ offset }) => offset))
  })

  it('above the limit becomes one record at its last offset; other batches are decoded', async () => {
    const bomb = await packed(rawBatch(13, 6, [0]), Buffer.alloc(maxDecompressedBytes + 1))
    const records = (await decodeRecordSet(
      rawBatch(10, 2, [0, 1, 2]),
      bomb,
      rawBatch(20, 0, [0]),
    )) as unknown as FetchedMessage[]
    expect(records.map(({ offset }) => offset)).toEqual(['10', '11', '12', '19', '20'])
    expect(records[3]).toMatchObject({
      ...{ timestamp: '7', key: null, value: null, headers: {}, isControlRecord: false },
      unreadBatch: {
        ...{ firstOffset: 13, length: bomb.length - headBytes, bytes: bomb.subarray(headBytes) },
        why: 'the Kafka record batch of offsets 13 to 19 cannot be read: it decompresses to more than 67108864 bytes',
      },
    })
  })

  it('with too many records becomes one record at its last offset, before it is decompressed', async () => {
    const batch = await packed(manyRecords(maxRecords, maxRecords + 1))
    const [read, ...others] = (await decodeRecordSet(batch)) as unknown as FetchedMessage[]
    expect(others).toEqual([])
    expect(read).toMatchObject({ offset: '200000', value: null, unreadBatch: { firstOffset: 0 } })
    expect(read?.unreadBatch?.why).toContain('cannot be read: it has 200001 records, more than 200000')
  })

  it('with the maximum number of records is read, and the next fetch returns the other batches', async () => {
    const batches = [await packed(manyRecords(0, maxRecords)), rawBatch(maxRecords, 0, [0])] as const
    const read = await decodeRecordSet(...batches)
    expect([read.length, read.at(-1)?.offset]).toEqual([maxRecords, '0'])
    expect(await decodeRecordSet(batches[1])).toHaveLength(1)
  })

  it.each([
    { name: 'of an unknown compression type', kind: 7, records: 'x', why: 'compression type 7 is unknown' },
    { name: 'that cannot be decompressed', kind: 1, records: 'no gzip', why: 'incorrect header check' },
    { name: 'of two frames, of which one is decompressed', kind: zstd, records: '', why: 'records end at byte' },
  ])('$name becomes one record at its last offset; other batches are decoded', async ({ kind, records, why }) => {
    const whole = rawBatch(13, 6, [0, 1])
    const half = await packed(whole, whole.subarray(headBytes, headBytes + 3))
    const bad = records === '' ? half : Buffer.concat([whole.subarray(0, headBytes), Buffer.from(records)])
    bad.writeInt32BE(bad.length - 12, 8)
    bad.writeInt16BE(kind, 21)
    const around = [rawBatch(10, 0, [0]), rawBatch(20, 0, [0])] as const
    const read = (await decodeRecordSet(around[0], bad, around[1])) as unknown as FetchedMessage[]
    expect(read.map(({ offset }) => offset)).toEqual(['10', '19', '20'])
    expect(read[1]?.unreadBatch?.why).toContain(why)
  })
})

it('the decompressed size of a response is limited', async () => {
  const half = Buffer.alloc(maxDecompressedBytes / 2 + 1)
  const one = await packed(rawBatch(0, 0, [0]), recordOf(half))
  const bytes = Buffer.concat([one, one, one])
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes.length)
  const Decoder = internal<new (bytes: Buffer) => object>('protocol/decoder')
  const decode = internal<(decoder: object) => Promise<readonly object[]>>('protocol/requests/fetch/v4/decodeMessages')
  const answer = new Decoder(Buffer.concat([length, bytes, length, bytes]))
  expect(await decode(answer)).toHaveLength(2)
  expect(await decode(answer)).toEqual([])
})

it.each([
  { name: 'decodes short headers as text', length: 1_000, kind: 'string' },
  { name: 'decodes long headers as bytes, which are not on the heap', length: 100_000, kind: 'object' },
])('$name', ({ length, kind }) => {
  readHeadersAsText()
  const name = Buffer.from('junk')
  const header = Buffer.concat([
    Buffer.from(varint(name.length)),
    name,
    Buffer.from(varint(length)),
    Buffer.alloc(length),
  ])
  const record = Buffer.concat([Buffer.from([0, 0, 0, 1, 1]), Buffer.from(varint(1)), header])
  const { headers } = decodeRecord({ buffer: record }, { firstOffset: '0', firstTimestamp: '0', magicByte: 2 })
  expect(typeof headers['junk']).toBe(kind)
  expect(toHeaderTexts(headers as FetchedMessage['headers'])['junk']).toHaveLength(length)
})

/** A batch of `count` records without key, value and headers. Each has the offset 0. */
function manyRecords(lastOffsetDelta: number, count: number): Buffer {
  const record = Buffer.from([12, 0, 0, 0, 1, 1, 0])
  const batch = Buffer.concat([rawBatch(0, lastOffsetDelta, []), Buffer.alloc(count * record.length, record)])
  batch.writeInt32BE(batch.length - 12, 8)
  batch.writeInt32BE(count, 57)
  return batch
}

/** A record with this value, including its length field. */
function recordOf(value: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from([0, 0, 0, 1, ...varint(value.length)]), value, Buffer.of(0)])
  return Buffer.concat([Buffer.from(varint(body.length)), body])
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = 2 * value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}
