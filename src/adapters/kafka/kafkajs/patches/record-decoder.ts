import { replaceInternal } from '../private-api.ts'

type Header = Buffer | null

type HeaderTexts = Readonly<Record<string, string>>

export interface DecodedRecord {
  readonly magicByte: number
  readonly attributes: number
  readonly timestamp: string
  readonly offset: string
  readonly key: Buffer | null
  readonly value: Buffer | null
  /** Bytes, or text after `readHeadersAsText`. */
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
  /** 1: all records have the time of the append. */
  readonly timestampType?: number
}

export type DecodeRecord = (decoder: { readonly buffer: Buffer }, batch: BatchContext) => DecodedRecord

const logAppendTime = 1
/**
 * Longer headers stay views of bytes until the record is used: as text, those of one answer of a
 * broker could fill the heap.
 */
const maxTextBytes = 64 * 1024
let isTextRequested = false

/**
 * Defect: kafkajs makes big integers of every length, and copies all headers for each header
 * (protocol/recordBatch/record/v0/decoder.js:45). A record with the headers of a retry takes 6.8 µs
 * instead of 1.8 µs; the bench rows of retries need it (docs/decisions/0014). A header named
 * `constructor` gets the values that every object has of that name.
 * Patch: its own decoder, with the same result otherwise.
 * Remove when: kafkajs decodes such a record in about the same time.
 */
export function patchRecordDecoder(): void {
  replaceInternal<DecodeRecord>('protocol/recordBatch/record/v0/decoder', decodeRecord)
}

/**
 * Makes headers text from now on, instead of a view of bytes for each: the views are half of the
 * cost of a record with the headers of a retry (docs/decisions/0025). Only for processes in which
 * no other code consumes with this instance of kafkajs.
 */
export function readHeadersAsText(): void {
  isTextRequested = true
}

/** Decodes one record of a batch (magic 2) from the bytes after its length. */
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

/** A repeated name has all its values. */
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

/** The last value of a repeated name counts; null becomes ''. */
function readTexts(cursor: Cursor): HeaderTexts {
  const count = cursor.varint()
  if (count === 0) return {}
  const rest = cursor.plainRest()
  const texts: Record<string, string> = {}
  for (let header = 0; header < count; header++) setOwnProperty(texts, cursor.name(), cursor.text(rest))
  return texts
}

/** Decimal text, as kafkajs represents offsets and times. */
function sum(first: string, delta: number): string {
  const total = Number(first) + delta
  return Number.isSafeInteger(total) ? String(total) : String(BigInt(first) + BigInt(delta))
}

/**
 * The rest of a record as text in which each character is one byte: byte offsets are text offsets.
 */
interface PlainText {
  readonly text: string
  readonly from: number
}

class Cursor {
  readonly #from: Buffer
  #at = 0

  constructor(from: Buffer) {
    this.#from = from
  }

  /** The number of remaining bytes. */
  get left(): number {
    return this.#from.length - this.#at
  }

  int8(): number {
    return ((this.#from[this.#at++] as number) << 24) >> 24
  }

  /** A signed varint of any length that a double can represent. */
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

  /** A header name, most likely a known one. */
  name(): string {
    const length = Math.max(0, this.varint())
    this.#at += length
    return knownName(this.#from, this.#at - length, this.#at)
  }

  /** The rest as text; undefined when a character takes several bytes. */
  plainRest(): PlainText | undefined {
    const from = this.#at
    const text = this.#from.toString('utf8', from)
    return text.length === this.#from.length - from ? { text, from } : undefined
  }

  /**
   * Text after its length; null becomes ''. A slice of `rest` takes a fifth of the time of new
   * text.
   */
  text(rest: PlainText | undefined): string {
    const length = Math.max(0, this.varint())
    this.#at += length
    if (rest === undefined) return this.#from.toString('utf8', this.#at - length, this.#at)
    return rest.text.slice(this.#at - length - rest.from, this.#at - rest.from)
  }

  /** A view of the bytes after their length; a negative length is null. */
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

/**
 * A power of two. A new name replaces the one in its slot, so that new names take no more memory.
 */
const nameSlots = 256
const maxNameBytes = 64
const known: (KnownName | undefined)[] = Array.from({ length: nameSlots }, () => undefined)

/**
 * The text of UTF-8 bytes. The same few names are in every record: to find one takes a third of the
 * time of making it, and an object with known names is made in a tenth of the time.
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
 * The slot of a name that is not empty. Its length and three of its bytes distinguish the few names
 * in a third of the time that all its bytes take.
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
 * Sets an own property of any name: `__proto__` by assignment would replace the prototype. Objects
 * without a prototype would be slow: V8 makes dictionaries of them.
 */
export function setOwnProperty<T>(of: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__')
    Object.defineProperty(of, name, { value, enumerable: true, configurable: true, writable: true })
  else of[name] = value
}
