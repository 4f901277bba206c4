import { replaceInternal } from '../internals.ts'
import { setOwn } from '../own-property.ts'
import { knownName } from './header-names.ts'

type Header = Buffer | null

type HeaderTexts = Readonly<Record<string, string>>

export interface DecodedRecord {
  readonly magicByte: number
  readonly attributes: number
  readonly timestamp: string
  readonly offset: string
  readonly key: Buffer | null
  readonly value: Buffer | null
  /** Bytes, or text where that is wanted. */
  readonly headers: Readonly<Record<string, Header | Header[]>> | HeaderTexts
  readonly isControlRecord: boolean
  readonly batchContext: BatchContext
}

/** What all records of a batch have in common. */
export interface BatchContext {
  readonly firstOffset: string
  readonly firstTimestamp: string
  readonly maxTimestamp?: string
  readonly magicByte: number
  readonly isControlBatch?: boolean
  /** 1: the time of the append stands for all. */
  readonly timestampType?: number
}

export type DecodeRecord = (decoder: { readonly buffer: Buffer }, batch: BatchContext) => DecodedRecord

const logAppendTime = 1
/**
 * Longer headers are left as views of bytes until somebody takes the record: as text, those of one answer of a broker
 * could fill the heap.
 */
const maxTextBytes = 64 * 1024
let isTextWanted = false

/**
 * kafkajs makes big integers of every length and copies all headers for each one more: with the headers of a retry a record takes it seven
 * times as long as this. What comes out is the same.
 */
export function cureSlowDecoding(): void {
  replaceInternal<DecodeRecord>('protocol/recordBatch/record/v0/decoder', decodeRecord)
}

/**
 * From now on headers come as text, in place of a view of the bytes of each: these are half of what a record with the headers of a retry takes.
 * For processes in which nobody but us consumes with kafkajs.
 */
export function readHeadersAsText(): void {
  isTextWanted = true
}

/** Reads one record of a batch (magic 2): the bytes behind its length. */
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
    headers: isTextWanted && cursor.left <= maxTextBytes ? readTexts(cursor) : readHeaders(cursor),
    isControlRecord: isControlBatch,
    batchContext: batch,
  }
}

/** A name that comes more than once has all its values. */
function readHeaders(cursor: Cursor): DecodedRecord['headers'] {
  const count = cursor.varint()
  const headers: Record<string, Header | Header[]> = {}
  for (let header = 0; header < count; header++) {
    const name = cursor.name()
    const value = cursor.bytes()
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined
    if (before === undefined) setOwn(headers, name, value)
    else setOwn(headers, name, Array.isArray(before) ? [...before, value] : [before, value])
  }
  return headers
}

/** Of a name that comes more than once the last value counts; one that is null is ''. */
function readTexts(cursor: Cursor): HeaderTexts {
  const count = cursor.varint()
  if (count === 0) return {}
  const rest = cursor.plainRest()
  const texts: Record<string, string> = {}
  for (let header = 0; header < count; header++) setOwn(texts, cursor.name(), cursor.text(rest))
  return texts
}

/** Decimal, as kafkajs has its offsets and times. */
function sum(first: string, delta: number): string {
  const total = Number(first) + delta
  return Number.isSafeInteger(total) ? String(total) : String(BigInt(first) + BigInt(delta))
}

/** All that is left of a record as text, of which each byte is a character: parts of it are where their bytes are. */
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

  /** How many bytes follow. */
  get left(): number {
    return this.#from.length - this.#at
  }

  int8(): number {
    return ((this.#from[this.#at++] as number) << 24) >> 24
  }

  /** Signed, of any length that a double holds. */
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

  /** Text, which came before most likely. */
  name(): string {
    const length = Math.max(0, this.varint())
    this.#at += length
    return knownName(this.#from, this.#at - length, this.#at)
  }

  /** Undefined when a character takes several bytes. */
  plainRest(): PlainText | undefined {
    const from = this.#at
    const text = this.#from.toString('utf8', from)
    return text.length === this.#from.length - from ? { text, from } : undefined
  }

  /** Text of so many bytes as stand before it; null is ''. To cut it out of the rest takes a fifth of making it. */
  text(rest: PlainText | undefined): string {
    const length = Math.max(0, this.varint())
    this.#at += length
    if (rest === undefined) return this.#from.toString('utf8', this.#at - length, this.#at)
    return rest.text.slice(this.#at - length - rest.from, this.#at - rest.from)
  }

  /** A view of so many bytes as stand before it; a negative length is null. */
  bytes(): Buffer | null {
    const length = this.varint()
    if (length < 0) return null
    this.#at += length
    return this.#from.subarray(this.#at - length, this.#at)
  }
}
