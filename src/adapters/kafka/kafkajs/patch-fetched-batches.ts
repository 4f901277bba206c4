import type { UnreadBatch } from '../../../core/ports.ts'
import { decompress, maxDecompressedBytes } from './compression-codecs.ts'
import type { BatchContext, DecodedRecord, DecodeRecord } from './patch-record-decoder.ts'
import { type Broker, type FetchedMessage, type FetchedPartition, internal, replaceInternal } from './private-api.ts'

/** Patches the code with which kafkajs decodes a fetch response. */
export function patchFetchedBatches(): void {
  // The decoder is replaced first: the patches below load files of kafkajs, and each file keeps the
  // decoder that existed when the file was loaded.
  replaceInternal('protocol/recordBatch/v0/decoder', decodeBatch)
  patchHugeBatch()
  patchAbortedTransactions()
}

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
  /** The decompressed size of the records in bytes; 0 for a batch that is not compressed. */
  readonly decompressedBytes: number
}

/** The byte offset of each field in a record batch (magic 2). */
const fieldOffset = {
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
/** The bytes that the length field excludes: the first offset and the length field. */
const uncountedBytes = 12
const flags = { compression: 0x07, logAppendTime: 0x08, transactional: 0x10, control: 0x20 }
/**
 * The maximum number of records in a batch, and in all batches of a response together. A batch of
 * `maxDecompressedBytes` could have millions of records, which need much more memory.
 */
export const maxRecords = 200_000
/** The maximum bytes of an unreadable batch that are kept in `UnreadBatch.bytes`. */
const keptBytes = 64 * 1024

/**
 * Decodes the batch at the decoder's position, and advances the decoder to its end.
 *
 * Defects (protocol/recordBatch/v0/decoder.js):
 * - kafkajs decompresses a batch without a size limit (line 104).
 * - If a batch cannot be decompressed, kafkajs fetches it again forever.
 * - It does not advance past a batch without a record at its last offset (tulios/kafkajs#1072).
 * Patch:
 * - A batch that is unreadable or too large becomes one record at its last offset, with
 *   `unreadBatch`.
 * - A batch without a record at its last offset gets a control record there.
 * Remove when: kafkajs limits the decompressed size and advances past empty batches.
 *
 * @throws KafkaJSPartialMessageError when the response contains only a part of the batch
 */
async function decodeBatch(decoder: Decoder): Promise<DecodedBatch> {
  const { buffer, offset: start } = decoder
  const end = start + uncountedBytes + buffer.readInt32BE(start + fieldOffset.length)
  decoder.offset = end
  if (end > buffer.length)
    throw partial(`the response has only ${buffer.length - start} of the ${end - start} bytes of a batch`)
  const batch = buffer.subarray(start, end)
  const context = contextOf(batch)
  const { records, decompressedBytes } = await readRecords(batch, context)
  const lastOffset = String(BigInt(context.firstOffset) + BigInt(context.lastOffsetDelta))
  if (records.at(-1)?.offset !== lastOffset) records.push(controlRecord(context, lastOffset))
  return { ...context, records, decompressedBytes }
}

type Context = Omit<DecodedBatch, 'records' | 'decompressedBytes'>

async function readRecords(
  batch: Buffer,
  context: Context,
): Promise<Pick<DecodedBatch, 'records' | 'decompressedBytes'>> {
  const count = batch.readInt32BE(fieldOffset.recordCount)
  if (count <= 0) return { records: [], decompressedBytes: 0 }
  const packed = batch.subarray(fieldOffset.records)
  const compression = batch.readInt16BE(fieldOffset.attributes) & flags.compression
  try {
    if (count > maxRecords) throw new Error(`it has ${count} records, more than ${maxRecords}`)
    const bytes = compression === 0 ? packed : await decompress(compression, packed)
    return { records: recordsIn(bytes, count, context), decompressedBytes: compression === 0 ? 0 : bytes.length }
  } catch (error) {
    return { records: [unreadable(packed, context, error as Error)], decompressedBytes: 0 }
  }
}

/** Reads the header of a batch into all fields of kafkajs's `batchContext`. */
function contextOf(batch: Buffer): Context {
  const attributes = batch.readInt16BE(fieldOffset.attributes)
  return {
    firstOffset: String(batch.readBigInt64BE(fieldOffset.firstOffset)),
    firstTimestamp: String(batch.readBigInt64BE(fieldOffset.firstTimestamp)),
    partitionLeaderEpoch: batch.readInt32BE(fieldOffset.leaderEpoch),
    inTransaction: (attributes & flags.transactional) > 0,
    isControlBatch: (attributes & flags.control) > 0,
    lastOffsetDelta: batch.readInt32BE(fieldOffset.lastOffsetDelta),
    producerId: String(batch.readBigInt64BE(fieldOffset.producerId)),
    producerEpoch: batch.readInt16BE(fieldOffset.producerEpoch),
    firstSequence: batch.readInt32BE(fieldOffset.firstSequence),
    maxTimestamp: String(batch.readBigInt64BE(fieldOffset.maxTimestamp)),
    timestampType: (attributes & flags.logAppendTime) > 0 ? 1 : 0,
    magicByte: batch.readInt8(fieldOffset.magic),
  } as Context
}

function recordsIn(bytes: Buffer, count: number, context: Context): DecodedRecord[] {
  const decodeRecord = internal<DecodeRecord>('protocol/recordBatch/record/v0/decoder')
  const reader = new (internal<DecoderClass>('protocol/decoder'))(bytes)
  const records: DecodedRecord[] = []
  for (let record = 0; record < count; record++)
    records.push(decodeRecord({ buffer: reader.readVarIntBytes() }, context))
  // The broker accepts only valid batches. So if the last record does not end where `bytes`
  // ends, the decompression was wrong.
  if (reader.offset !== bytes.length) throw new Error(`its records end at byte ${reader.offset} of ${bytes.length}`)
  return records
}

/**
 * The record that replaces an unreadable batch. It has the last offset of the batch, so that the
 * consumer's position advances past it.
 */
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
      // A copy, because a view would keep the whole response in memory.
      bytes: Buffer.from(packed.subarray(0, keptBytes)),
      why: `the Kafka record batch of offsets ${firstOffset} to ${firstOffset + context.lastOffsetDelta} cannot be read: ${message}`,
    },
  }
}

/** The key of the control record that commits a transaction. */
const commitMarker = Buffer.from([0, 0, 0, 1])

/**
 * Creates a control record at the last offset of a batch. It is a commit marker that belongs to no
 * transaction, so it has no effect except its offset.
 */
function controlRecord(context: Context, offset: string): DecodedRecord {
  return {
    magicByte: 2,
    attributes: 0,
    timestamp: context.maxTimestamp,
    offset,
    key: commitMarker,
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
/** The minimum size of a batch in bytes, as in kafkajs. */
const batchOverhead = 49

/**
 * Defects (protocol/requests/fetch/v4/decodeMessages.js:28):
 * - The records of a batch are arguments of one `push`, which throws above about 125,000.
 * - kafkajs decodes all batches of a response, which could fill the memory.
 * Patch: adds records one by one. When the decoded batches reach `maxDecompressedBytes` or
 * `maxRecords` in total, leaves the other batches of the response to the next fetch.
 * Remove when: kafkajs adds records one by one, and limits the decompressed size of a response.
 */
function patchHugeBatch(): void {
  const original = internal<DecodeMessages>(messagesFile)
  const DecoderOf = internal<DecoderClass>('protocol/decoder')
  /** The decoded bytes and records of each response. The key is the decoder of the response. */
  const sizes = new WeakMap<Decoder, { decompressedBytes: number; records: number }>()

  replaceInternal<DecodeMessages>(messagesFile, async decoder => {
    const size = decoder.readInt32()
    if (size <= 0 || !decoder.canReadBytes(size)) return []
    const bytes = decoder.readBytes(size)
    if (bytes.readInt8(magicOffset) !== currentMagic) return original(new DecoderOf(withLength(bytes)))
    const messages = new DecoderOf(bytes)
    const records: object[] = []
    const read = sizes.get(decoder) ?? { decompressedBytes: 0, records: 0 }
    sizes.set(decoder, read)
    const isFull = (): boolean => read.decompressedBytes >= maxDecompressedBytes || read.records >= maxRecords
    while (messages.canReadBytes(batchOverhead) && !isFull()) {
      try {
        const batch = await decodeBatch(messages)
        for (const record of batch.records) records.push(record)
        read.decompressedBytes += batch.decompressedBytes
        read.records += batch.records.length
      } catch (error) {
        // The broker cuts a response off at the size limit, so its last batch can be incomplete.
        if ((error as Error).name === 'KafkaJSPartialMessageError') break
        throw error
      }
    }
    return records
  })
}

/**
 * Adds the length field in front of the bytes. The caller has already read this field, but the
 * `decodeMessages` of kafkajs must read it too.
 */
function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/**
 * The type of a transaction marker that aborts its transaction. (Type 1 commits it.) In the key of
 * the marker, the type follows the version of the format (2 bytes).
 */
const abortType = 0

/**
 * Defect: kafkajs expects aborted transactions sorted by first offset, but brokers sort them by
 * last offset (consumer/filterAbortedMessages.js:40).
 * Patch: removes the records of aborted transactions before kafkajs filters.
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

/**
 * Removes the records of aborted transactions. If the last record is removed, a control record
 * replaces it, because otherwise the position would not advance.
 */
export function withoutAborted(
  messages: readonly FetchedMessage[],
  transactions: readonly { readonly producerId: string; readonly firstOffset: string }[],
): FetchedMessage[] {
  const waiting = transactions
    .map(({ producerId, firstOffset }) => ({ producerId, firstOffset: Number(firstOffset) }))
    .sort((a, b) => b.firstOffset - a.firstOffset)
  const open = new Set<string>()
  const kept = messages.filter(({ offset, key, isControlRecord, batchContext }) => {
    while (waiting.length > 0 && (waiting.at(-1)?.firstOffset as number) <= Number(offset))
      open.add(waiting.pop()?.producerId as string)
    if (batchContext === undefined) return true
    if (isControlRecord === true) {
      if (key?.readInt16BE(2) === abortType) open.delete(batchContext.producerId)
      return true
    }
    return !(batchContext.inTransaction && open.has(batchContext.producerId))
  })
  const last = messages.at(-1)
  if (last !== undefined && kept.at(-1) !== last) kept.push(withoutContent(last))
  return kept
}

/** Returns a control record at the offset of this record (see `controlRecord`). */
const withoutContent = (message: FetchedMessage): FetchedMessage => ({
  ...message,
  ...{ key: commitMarker, value: null, headers: {}, isControlRecord: true },
  batchContext: { producerId: '-1', inTransaction: false },
})
