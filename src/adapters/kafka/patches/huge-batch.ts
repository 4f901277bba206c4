import { maxUnpackedBytes } from '../codecs.ts'
import { internal, replaceInternal } from '../internals.ts'
import type { DecodedBatch } from './batch-decoder.ts'

interface Decoder {
  readInt32(): number
  readBytes(length: number): Buffer
  canReadBytes(length: number): boolean
}
type DecodeMessages = (decoder: Decoder) => Promise<readonly object[]>

const file = 'protocol/requests/fetch/v4/decodeMessages'
const magicOffset = 16
const currentMagic = 2
/** The bytes of a batch before its records, as kafkajs counts them. */
const batchOverhead = 49

/**
 * kafkajs adds the records of a batch to its list as the arguments of one call, which ends the consumer with a `RangeError` from about
 * 125,000 records in one batch on, and again after each restart. Here they are added one by one.
 *
 * One answer may hold hundreds of batches that unpack to as much as one may: those behind the first so many bytes are left for the next fetch,
 * as if the broker had cut them off.
 */
export function cureHugeBatch(): void {
  const original = internal<DecodeMessages>(file)
  const decodeBatch = internal<(decoder: Decoder) => Promise<Pick<DecodedBatch, 'records' | 'unpackedBytes'>>>(
    'protocol/recordBatch/v0/decoder',
  )
  const Decoder = internal<new (bytes: Buffer) => Decoder & { readonly buffer: Buffer }>('protocol/decoder')

  /** By the answer that they came with; of all of its partitions, which are read one after the other. */
  const unpackedBytes = new WeakMap<Decoder, number>()

  replaceInternal<DecodeMessages>(file, async decoder => {
    const size = decoder.readInt32()
    if (size <= 0 || !decoder.canReadBytes(size)) return []
    const bytes = decoder.readBytes(size)
    if (bytes.readInt8(magicOffset) !== currentMagic) return original(new Decoder(withLength(bytes)))
    const messages = new Decoder(bytes)
    const records: object[] = []
    while (messages.canReadBytes(batchOverhead) && (unpackedBytes.get(decoder) ?? 0) < maxUnpackedBytes) {
      try {
        const batch = await decodeBatch(messages)
        for (const record of batch.records) records.push(record)
        if (batch.unpackedBytes > 0) unpackedBytes.set(decoder, (unpackedBytes.get(decoder) ?? 0) + batch.unpackedBytes)
      } catch (error) {
        // The broker cuts the last batch off where the fetch is full.
        if ((error as Error).name === 'KafkaJSPartialMessageError') break
        throw error
      }
    }
    return records
  })
}

/** The original reads the length itself. */
function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
