import { replaceInternal } from './private-api.ts'

type Header = Buffer | null

type HeaderTexts = Readonly<Record<string, string>>

export interface DecodedRecord {
  readonly magicByte: number
  readonly attributes: number
  readonly timestamp: string
  readonly offset: string
  readonly key: Buffer | null
  readonly value: Buffer | null
  /**
   * The values are bytes, or text after a call of `readHeadersAsText`. If all headers of a record
   * together exceed `maxTextBytes`, their values stay bytes.
   */
  readonly headers: Readonly<Record<string, Header | Header[]>> | HeaderTexts
  readonly isControlRecord: boolean
  readonly batchContext: BatchContext
}

/** The fields that all records of a batch share. */
export interface BatchContext {
  readonly firstOffset: string
  readonly firstTimestamp: string
  readonly maxTimestamp?: string
  readonly magicByte: number
  readonly isControlBatch?: boolean
  /** If it is 1 (LogAppendTime), the timestamp of all records of the batch is `maxTimestamp`. */
  readonly timestampType?: number
}

export type DecodeRecord = (decoder: { readonly buffer: Buffer }, batch: BatchContext) => DecodedRecord

const logAppendTime = 1
/**
 * Maximum total bytes of a record's headers that are decoded to text, because the text of all
 * headers of a response could fill the heap.
 */
const maxTextBytes = 64 * 1024
let isTextRequested = false

/**
 * Defects (protocol/recordBatch/record/v0/decoder.js:45):
 * - kafkajs decodes slowly: a retry record takes 6.8 µs, with this decoder 1.8 µs.
 * - If a header has the name of a property of `Object.prototype`, for example `toString`, kafkajs
 *   adds this property to the value of the header.
 * Patch: replaces the decoder.
 * Remove when: kafkajs decodes a retry record in about the same time (docs/decisions/0043, rule
 * 12).
 */
export function patchRecordDecoder(): void {
  replaceInternal<DecodeRecord>('protocol/recordBatch/record/v0/decoder', decodeRecord)
}

/**
 * Makes all later decodes return header values as text, which takes less CPU time
 * (docs/decisions/0043, rule 13). All users of this kafkajs must expect text.
 */
export function readHeadersAsText(): void {
  isTextRequested = true
}

/** Decodes one record of a batch (magic 2) from the bytes after its length field. */
export function decodeRecord({ buffer }: { readonly buffer: Buffer }, batch: BatchContext): DecodedRecord {
  const cursor = new Cursor(buffer)
  const attributes = cursor.int8()
  const timestampDelta = cursor.varint()
  const offsetDelta = cursor.varint()
  const key = cursor.bytes()
  const value = cursor.bytes()
  const { maxTimestamp, isControlBatch = false } = batch
  return {
    magicByte: batch.magicByte,
    attributes,
    timestamp:
      batch.timestampType === logAppendTime && maxTimestamp ? maxTimestamp : sum(batch.firstTimestamp, timestampDelta),
    offset: sum(batch.firstOffset, offsetDelta),
    key,
    value,
    headers: isTextRequested && cursor.left <= maxTextBytes ? readTexts(cursor) : readHeaders(cursor),
    isControlRecord: isControlBatch,
    batchContext: batch,
  }
}

function readHeaders(cursor: Cursor): DecodedRecord['headers'] {
  const count = cursor.varint()
  const headers: Record<string, Header | Header[]> = {}
  for (let header = 0; header < count; header++) {
    const name = cursor.name()
    const value = cursor.bytes()
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined
    if (before === undefined) setOwnProperty(headers, name, value)
    else setOwnProperty(headers, name, Array.isArray(before) ? [...before, value] : [before, value])
  }
  return headers
}

/** Decodes the headers to text. The last value of a repeated name counts; null becomes ''. */
function readTexts(cursor: Cursor): HeaderTexts {
  const count = cursor.varint()
  if (count === 0) return {}
  const rest = cursor.unreadSingleByteText()
  const texts: Record<string, string> = {}
  for (let header = 0; header < count; header++) setOwnProperty(texts, cursor.name(), cursor.text(rest))
  return texts
}

/** Adds two integers. The result is a decimal string. */
function sum(first: string, delta: number): string {
  const total = Number(first) + delta
  return Number.isSafeInteger(total) ? String(total) : String(BigInt(first) + BigInt(delta))
}

/** The bytes of a record after its header count, as text. Each character takes one byte. */
interface SingleByteText {
  readonly text: string
  /** The byte offset in the record at which the text begins. */
  readonly from: number
}

class Cursor {
  readonly #from: Buffer
  #at = 0

  constructor(from: Buffer) {
    this.#from = from
  }

  get left(): number {
    return this.#from.length - this.#at
  }

  int8(): number {
    return ((this.#from[this.#at++] as number) << 24) >> 24
  }

  /** Reads a signed varint (zigzag). A double must be able to represent the value exactly. */
  varint(): number {
    let byte = this.#from[this.#at++] as number
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1)
    let zigzag = byte & 0x7f
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = this.#from[this.#at++] as number
      zigzag += (byte & 0x7f) * scale
    }
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
  }

  name(): string {
    const length = Math.max(0, this.varint())
    this.#at += length
    return knownName(this.#from, this.#at - length, this.#at)
  }

  /** The unread bytes of the record as text; `undefined` if a character has several bytes. */
  unreadSingleByteText(): SingleByteText | undefined {
    const from = this.#at
    const text = this.#from.toString('utf8', from)
    return text.length === this.#from.length - from ? { text, from } : undefined
  }

  /**
   * Reads a length and a text; null becomes ''. If `rest` is given, slices its text, which takes a
   * fifth of the time of decoding bytes.
   */
  text(rest: SingleByteText | undefined): string {
    const length = Math.max(0, this.varint())
    this.#at += length
    if (rest === undefined) return this.#from.toString('utf8', this.#at - length, this.#at)
    return rest.text.slice(this.#at - length - rest.from, this.#at - rest.from)
  }

  /** Reads a length and returns a view of the bytes that follow; null for a negative length. */
  bytes(): Buffer | null {
    const length = this.varint()
    if (length < 0) return null
    this.#at += length
    return this.#from.subarray(this.#at - length, this.#at)
  }
}

interface KnownName {
  readonly bytes: Buffer
  readonly name: string
}

/** Size of the cache of header names, a power of two. A new name replaces the one in its slot. */
const nameSlots = 256
const maxNameBytes = 64
const known: (KnownName | undefined)[] = Array.from({ length: nameSlots }, () => undefined)

/**
 * Returns a header name, from the cache if possible. The cache takes a third of the time of
 * decoding, and V8 creates objects ten times as fast with cached keys.
 */
export function knownName(from: Buffer, start: number, end: number): string {
  const length = end - start
  if (length === 0 || length > maxNameBytes) return from.toString('utf8', start, end)
  const slot = slotOf(from, start, end)
  const found = known[slot]
  if (found !== undefined && isSame(found.bytes, from, start, end)) return found.name
  const name = from.toString('utf8', start, end)
  known[slot] = { bytes: Buffer.from(from.subarray(start, end)), name }
  return name
}

/**
 * Returns the slot of a header name in the cache. It uses only the length and three bytes, which
 * distinguish Hookline's header names. A hash of all bytes would take three times as long.
 */
export function slotOf(from: Buffer, start: number, end: number): number {
  const middle = (start + end) >>> 1
  return (67 * (end - start) + 41 * from[start]! + 13 * from[middle]! + 7 * from[end - 1]!) & (nameSlots - 1)
}

function isSame(bytes: Buffer, from: Buffer, start: number, end: number): boolean {
  if (bytes.length !== end - start) return false
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== from[start + at]) return false
  return true
}

/**
 * Sets an own property with any name. An assignment to `__proto__` would replace the prototype, and
 * V8 makes `Object.create(null)` a slow dictionary.
 */
export function setOwnProperty<T>(of: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__')
    Object.defineProperty(of, name, { value, enumerable: true, configurable: true, writable: true })
  else of[name] = value
}
