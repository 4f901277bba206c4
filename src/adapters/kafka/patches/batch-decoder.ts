import type { UnreadBatch } from '../../../core/ports.ts'
import { unpack } from '../codecs.ts'
import { internal, replaceInternal } from '../internals.ts'
import type { BatchContext, DecodedRecord, DecodeRecord } from './record-decoder.ts'

/** kafkajs's reader of bytes. */
interface Decoder {
  readonly buffer: Buffer
  offset: number
}

export interface DecodedBatch extends BatchContext {
  readonly lastOffsetDelta: number
  readonly maxTimestamp: string
  readonly records: (DecodedRecord & { readonly unreadBatch?: UnreadBatch })[]
  /** What its records take in memory; 0 for a batch that is not compressed. */
  readonly unpackedBytes: number
}

/** Where the fields of a batch (magic 2) stand, from its first byte on. */
const at = {
  ...{ firstOffset: 0, length: 8, leaderEpoch: 12, magic: 16, attributes: 21, lastOffsetDelta: 23 },
  ...{ firstTimestamp: 27, maxTimestamp: 35, producerId: 43, producerEpoch: 51, firstSequence: 53 },
  ...{ recordCount: 57, records: 61 },
}
/** Its offset and its length: what the length does not count. */
const uncounted = 12
const flags = { compression: 0x07, logAppendTime: 0x08, transactional: 0x10, control: 0x20 }
/** How much of a batch that was not unpacked is kept. */
const keptBytes = 64 * 1024

/**
 * kafkajs unpacks a batch whatever comes of it: 6 KB of zstd become 200 MB. And it fetches a batch that it cannot
 * unpack again and again, although the broker, which has other decoders, may have accepted it. Here a batch that
 * unpacks to more than `maxUnpackedBytes`, or cannot be unpacked or read, becomes one record, at its last offset,
 * that says so. What comes of all others is the same as in the original.
 */
export function boundUnpacking(): void {
  replaceInternal('protocol/recordBatch/v0/decoder', decodeBatch)
}

/** Reads the batch at the decoder's position, and moves that behind it. @throws KafkaJSPartialMessageError */
async function decodeBatch(decoder: Decoder): Promise<DecodedBatch> {
  const { buffer, offset: start } = decoder
  const end = start + uncounted + buffer.readInt32BE(start + at.length)
  decoder.offset = end
  if (end > buffer.length) throw partial(`batch of ${end - start} bytes, ${buffer.length - start} are there`)
  const batch = buffer.subarray(start, end)
  const context = contextOf(batch)
  const packed = batch.subarray(at.records)
  const compression = batch.readInt16BE(at.attributes) & flags.compression
  if (batch.readInt32BE(at.recordCount) <= 0) return { ...context, records: [], unpackedBytes: 0 }
  try {
    const bytes = compression === 0 ? packed : await unpack(compression, packed)
    const unpackedBytes = compression === 0 ? 0 : bytes.length
    return { ...context, records: recordsIn(bytes, batch, context), unpackedBytes }
  } catch (error) {
    return { ...context, records: [unread(packed, context, error as Error)], unpackedBytes: 0 }
  }
}

type Context = Omit<DecodedBatch, 'records' | 'unpackedBytes'>

/** The batch that each record refers to. It has all fields of kafkajs's own, used here or not. */
function contextOf(batch: Buffer): Context {
  const attributes = batch.readInt16BE(at.attributes)
  return {
    firstOffset: String(batch.readBigInt64BE(at.firstOffset)),
    firstTimestamp: String(batch.readBigInt64BE(at.firstTimestamp)),
    partitionLeaderEpoch: batch.readInt32BE(at.leaderEpoch),
    inTransaction: (attributes & flags.transactional) > 0,
    isControlBatch: (attributes & flags.control) > 0,
    lastOffsetDelta: batch.readInt32BE(at.lastOffsetDelta),
    producerId: String(batch.readBigInt64BE(at.producerId)),
    producerEpoch: batch.readInt16BE(at.producerEpoch),
    firstSequence: batch.readInt32BE(at.firstSequence),
    maxTimestamp: String(batch.readBigInt64BE(at.maxTimestamp)),
    timestampType: (attributes & flags.logAppendTime) > 0 ? 1 : 0,
    magicByte: batch.readInt8(at.magic),
  } as Context
}

function recordsIn(bytes: Buffer, batch: Buffer, context: Context): DecodedRecord[] {
  const decodeRecord = internal<DecodeRecord>('protocol/recordBatch/record/v0/decoder')
  const Reader =
    internal<new (bytes: Buffer) => { readVarIntBytes(): Buffer; readonly offset: number }>('protocol/decoder')
  const reader = new Reader(bytes)
  const count = batch.readInt32BE(at.recordCount)
  const records: DecodedRecord[] = []
  for (let record = 0; record < count; record++)
    records.push(decodeRecord({ buffer: reader.readVarIntBytes() }, context))
  // The broker has checked it, so part of the batch was not unpacked.
  if (reader.offset !== bytes.length) throw new Error(`its records end at byte ${reader.offset} of ${bytes.length}`)
  return records
}

/** At the last offset of the batch, so that the position moves behind it. */
function unread(packed: Buffer, context: Context, { message }: Error): DecodedBatch['records'][number] {
  const firstOffset = Number(context.firstOffset)
  return {
    magicByte: context.magicByte,
    attributes: 0,
    timestamp: context.maxTimestamp,
    offset: String(firstOffset + context.lastOffsetDelta),
    key: null,
    value: null,
    headers: {},
    isControlRecord: false,
    batchContext: context,
    // A copy: the record outlives the answer that it came with.
    unreadBatch: {
      ...{ firstOffset, length: packed.length, bytes: Buffer.from(packed.subarray(0, keptBytes)) },
      why: `its batch cannot be read: ${message}`,
    },
  }
}

function partial(what: string): Error {
  const { KafkaJSPartialMessageError } = internal<{ KafkaJSPartialMessageError: new (text: string) => Error }>('errors')
  return new KafkaJSPartialMessageError(what)
}
