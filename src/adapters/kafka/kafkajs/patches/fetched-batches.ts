import type { UnreadBatch } from '../../../../core/ports.ts'
import { maxUnpackedBytes, unpack } from '../codecs.ts'
import { type Broker, type FetchedMessage, type FetchedPartition, internal, replaceInternal } from '../private-api.ts'
import type { BatchContext, DecodedRecord, DecodeRecord } from './record-decoder.ts'

/** Applies the patches of what kafkajs makes of the answer to a fetch. */
export function patchFetchedBatches(): void {
  // kafkajs's other files keep the decoder that they find when they are loaded: replace it first.
  replaceInternal('protocol/recordBatch/v0/decoder', decodeBatch)
  patchHugeBatch()
  patchAbortedTransactions()
}

/** kafkajs's reader of bytes. */
interface Decoder {
  readonly buffer: Buffer
  offset: number
  readInt32(): number
  readBytes(length: number): Buffer
  readVarIntBytes(): Buffer
  canReadBytes(length: number): boolean
}
type DecoderClass = new (bytes: Buffer) => Decoder

interface DecodedBatch extends BatchContext {
  readonly lastOffsetDelta: number
  readonly maxTimestamp: string
  readonly records: (DecodedRecord & { readonly unreadBatch?: UnreadBatch })[]
  /** The size of its records in memory; 0 for a batch that is not compressed. */
  readonly unpackedBytes: number
}

/** Offsets of the fields of a batch (magic 2) from its first byte. */
const at = {
  firstOffset: 0,
  length: 8,
  leaderEpoch: 12,
  magic: 16,
  attributes: 21,
  lastOffsetDelta: 23,
  firstTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  firstSequence: 53,
  recordCount: 57,
  records: 61,
}
/** Bytes that the length field does not count: the first offset and the length itself. */
const uncounted = 12
const flags = { compression: 0x07, logAppendTime: 0x08, transactional: 0x10, control: 0x20 }
/** How much of an unreadable batch is kept. */
const keptBytes = 64 * 1024

/**
 * Decodes the batch at the decoder's position, and moves the decoder behind it.
 *
 * Defects (protocol/recordBatch/v0/decoder.js):
 * - Line 104 unpacks a batch whatever its size: 6 KB of zstd become 200 MB. A batch that cannot be
 *   unpacked is fetched again for ever, although the broker has accepted it.
 * - Compaction keeps the last batch of an idempotent producer without its records. kafkajs sees no
 *   record, keeps its position and fetches thousands of times a second (tulios/kafkajs#1072). Where
 *   only the last records of a batch are gone, it fetches once more for each of them.
 * Patch: a batch that cannot be read, or unpacks to more than `maxUnpackedBytes`, becomes one
 * record at its last offset with the reason (`unreadBatch`). A batch without a record at its last
 * offset gets a control record there, which no consumer sees. All other batches decode as before.
 * Remove when: kafkajs limits the unpacked size and advances past empty batches.
 *
 * @throws KafkaJSPartialMessageError
 */
async function decodeBatch(decoder: Decoder): Promise<DecodedBatch> {
  const { buffer, offset: start } = decoder
  const end = start + uncounted + buffer.readInt32BE(start + at.length)
  decoder.offset = end
  if (end > buffer.length) throw partial(`batch of ${end - start} bytes, ${buffer.length - start} are there`)
  const batch = buffer.subarray(start, end)
  const context = contextOf(batch)
  const { records, unpackedBytes } = await readRecords(batch, context)
  const lastOffset = String(BigInt(context.firstOffset) + BigInt(context.lastOffsetDelta))
  if (records.at(-1)?.offset !== lastOffset) records.push(controlRecord(context, lastOffset))
  return { ...context, records, unpackedBytes }
}

type Context = Omit<DecodedBatch, 'records' | 'unpackedBytes'>

async function readRecords(batch: Buffer, context: Context): Promise<Pick<DecodedBatch, 'records' | 'unpackedBytes'>> {
  if (batch.readInt32BE(at.recordCount) <= 0) return { records: [], unpackedBytes: 0 }
  const packed = batch.subarray(at.records)
  const compression = batch.readInt16BE(at.attributes) & flags.compression
  try {
    const bytes = compression === 0 ? packed : await unpack(compression, packed)
    return { records: recordsIn(bytes, batch, context), unpackedBytes: compression === 0 ? 0 : bytes.length }
  } catch (error) {
    return { records: [unreadable(packed, context, error as Error)], unpackedBytes: 0 }
  }
}

/** The batch that each record refers to, with all fields of kafkajs's own. */
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
  const reader = new (internal<DecoderClass>('protocol/decoder'))(bytes)
  const count = batch.readInt32BE(at.recordCount)
  const records: DecodedRecord[] = []
  for (let record = 0; record < count; record++)
    records.push(decodeRecord({ buffer: reader.readVarIntBytes() }, context))
  // The broker has checked the batch, so a part of it was not unpacked.
  if (reader.offset !== bytes.length) throw new Error(`its records end at byte ${reader.offset} of ${bytes.length}`)
  return records
}

/** At the last offset of the batch, so that the position moves behind it. */
function unreadable(packed: Buffer, context: Context, { message }: Error): DecodedBatch['records'][number] {
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
    unreadBatch: {
      firstOffset,
      length: packed.length,
      // A copy: the record outlives the answer that contains it.
      bytes: Buffer.from(packed.subarray(0, keptBytes)),
      why: `its batch cannot be read: ${message}`,
    },
  }
}

/** A commit marker outside of any transaction: it ends none. */
function controlRecord(context: Context, offset: string): DecodedRecord {
  return {
    magicByte: 2,
    attributes: 0,
    timestamp: context.maxTimestamp,
    offset,
    key: Buffer.from([0, 0, 0, 1]),
    value: null,
    headers: {},
    isControlRecord: true,
    batchContext: { ...context, inTransaction: false } as BatchContext,
  }
}

function partial(what: string): Error {
  const { KafkaJSPartialMessageError } = internal<{ KafkaJSPartialMessageError: new (text: string) => Error }>('errors')
  return new KafkaJSPartialMessageError(what)
}

type DecodeMessages = (decoder: Decoder) => Promise<readonly object[]>

const messagesFile = 'protocol/requests/fetch/v4/decodeMessages'
const magicOffset = 16
const currentMagic = 2
/** The bytes of a batch before its records, as kafkajs counts them. */
const batchOverhead = 49

/**
 * Defect: kafkajs adds the records of a batch to its list as arguments of one call
 * (decodeMessages.js:28 of fetch v4). From about 125,000 records in a batch on, that is a
 * `RangeError` that ends the consumer, again after each restart. One answer may also contain
 * hundreds of batches that each unpack to the maximum.
 * Patch: adds the records one by one. After `maxUnpackedBytes` the other batches wait for the next
 * fetch, as if the broker had cut them off.
 * Remove when: kafkajs appends records one by one, and limits the unpacked size of an answer.
 */
function patchHugeBatch(): void {
  const original = internal<DecodeMessages>(messagesFile)
  const DecoderOf = internal<DecoderClass>('protocol/decoder')
  /** By answer; its partitions are decoded one after the other. */
  const unpackedBytes = new WeakMap<Decoder, number>()

  replaceInternal<DecodeMessages>(messagesFile, async decoder => {
    const size = decoder.readInt32()
    if (size <= 0 || !decoder.canReadBytes(size)) return []
    const bytes = decoder.readBytes(size)
    if (bytes.readInt8(magicOffset) !== currentMagic) return original(new DecoderOf(withLength(bytes)))
    const messages = new DecoderOf(bytes)
    const records: object[] = []
    while (messages.canReadBytes(batchOverhead) && (unpackedBytes.get(decoder) ?? 0) < maxUnpackedBytes) {
      try {
        const batch = await decodeBatch(messages)
        for (const record of batch.records) records.push(record)
        if (batch.unpackedBytes > 0) unpackedBytes.set(decoder, (unpackedBytes.get(decoder) ?? 0) + batch.unpackedBytes)
      } catch (error) {
        // The broker cuts off the last batch where the fetch is full.
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

/** Follows the version in the key of a transaction marker: 0 aborted, 1 committed. */
const abortType = 0

/**
 * Defect: kafkajs reads the aborted transactions of a fetch in the broker's order, that of their
 * ends, but needs the order of their beginnings (consumer/filterAbortedMessages.js:40). Where
 * transactions of two producers interleave, it returns records of an aborted one.
 * Patch: removes these records before kafkajs filters.
 * Remove when: kafkajs sorts aborted transactions by first offset.
 */
function patchAbortedTransactions(): void {
  const { prototype } = internal<{ prototype: Broker }>('broker')
  const fetch = prototype.fetch
  prototype.fetch = async function (this: Broker, request) {
    const answer = await fetch.call(this, request)
    for (const { partitions } of answer.responses) for (const partition of partitions) removeAborted(partition)
    return answer
  }
}

function removeAborted(partition: FetchedPartition): void {
  const { abortedTransactions = [] } = partition
  if (abortedTransactions.length === 0) return
  partition.messages = withoutAborted(partition.messages, abortedTransactions)
  partition.abortedTransactions = []
}

/** Keeps the markers: they advance the position. */
export function withoutAborted(
  messages: readonly FetchedMessage[],
  transactions: readonly { readonly producerId: string; readonly firstOffset: string }[],
): FetchedMessage[] {
  const waiting = transactions
    .map(({ producerId, firstOffset }) => ({ producerId, firstOffset: Number(firstOffset) }))
    .sort((a, b) => b.firstOffset - a.firstOffset)
  const open = new Set<string>()
  return messages.filter(({ offset, key, isControlRecord, batchContext }) => {
    while (waiting.length > 0 && (waiting.at(-1)?.firstOffset as number) <= Number(offset))
      open.add(waiting.pop()?.producerId as string)
    if (batchContext === undefined) return true
    if (isControlRecord === true) {
      if (key?.readInt16BE(2) === abortType) open.delete(batchContext.producerId)
      return true
    }
    return !(batchContext.inTransaction && open.has(batchContext.producerId))
  })
}
