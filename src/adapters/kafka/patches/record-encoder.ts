import { replaceInternal } from '../internals.ts'

type Bytes = Buffer | string | null | undefined

/** A record as kafkajs's producer hands it over. */
export interface MessageToEncode {
  readonly offsetDelta?: number
  /** Milliseconds. */
  readonly timestampDelta?: number
  readonly key?: Bytes
  readonly value?: Bytes
  readonly headers?: Readonly<Record<string, Bytes | readonly Bytes[]>>
}

/** What kafkajs takes for one of its encoders. */
export interface EncodedRecord {
  readonly buf: Buffer
  readonly buffer: Buffer
}

/** Of a varint of 32 bits. */
const longestVarint = 5
const longestVarlong = 10
/** The length of a text so short takes one byte. */
const longestShort = 63

/**
 * kafkajs puts a record together from some ten buffers of half a kibibyte, and from two more for each header: with the headers of a retry it
 * takes ten times as long as this. What comes out is the same.
 */
export function cureSlowEncoding(): void {
  replaceInternal('protocol/recordBatch/record/v0/index', encodeRecord)
}

let scratch = Buffer.allocUnsafeSlow(16 * 1024)

/** One record of a batch (magic 2), with its length. */
export function encodeRecord(message: MessageToEncode): EncodedRecord {
  const { offsetDelta = 0, timestampDelta = 0, key, value, headers = {} } = message
  const inHeaders = namesAndValues(headers)
  let most = longestVarlong + 3 * longestVarint + mostBytes(key) + mostBytes(value)
  for (const bytes of inHeaders) most += mostBytes(bytes)
  if (most > scratch.length) scratch = Buffer.allocUnsafeSlow(most * 2)
  // No record has attributes yet.
  scratch[longestVarint] = 0
  let end = writeVarint(timestampDelta, longestVarint + 1)
  end = writeVarint(offsetDelta, end)
  end = writeBytes(key, end)
  end = writeBytes(value, end)
  end = writeVarint(inHeaders.length / 2, end)
  for (const bytes of inHeaders) end = writeBytes(bytes, end)
  // The length is known last and stands first.
  const length = end - longestVarint
  const start = longestVarint - sizeOfVarint(length)
  writeVarint(length, start)
  const bytes = Buffer.allocUnsafe(end - start)
  scratch.copy(bytes, 0, start, end)
  return { buf: bytes, buffer: bytes }
}

const mostBytes = (bytes: Bytes): number =>
  longestVarint + (typeof bytes === 'string' ? bytes.length * 3 : (bytes?.length ?? 0))

/** One after the other; a header with several values comes several times. */
function namesAndValues(headers: NonNullable<MessageToEncode['headers']>): Bytes[] {
  const all: Bytes[] = []
  for (const name in headers) {
    const value = headers[name] as Bytes | readonly Bytes[]
    if (Array.isArray(value)) for (const each of value) all.push(name, each)
    else all.push(name, value as Bytes)
  }
  return all
}

/** Length and bytes; text in UTF-8. Returns where they end. */
function writeBytes(bytes: Bytes, at: number): number {
  if (bytes === null || bytes === undefined) return writeVarint(-1, at)
  if (typeof bytes === 'string') return bytes.length <= longestShort ? writeShort(bytes, at) : writeText(bytes, at)
  const from = writeVarint(bytes.length, at)
  return from + bytes.copy(scratch, from)
}

/** Most headers are a few letters and digits: to hand these over to native code takes three times as long. */
function writeShort(text: string, at: number): number {
  const to = scratch
  const { length } = text
  const from = at + 1
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index)
    if (code > 0x7f) return writeText(text, at)
    to[from + index] = code
  }
  to[at] = zigzag(length)
  return from + length
}

/** What takes its length is known when it is written: then it moves up to it. */
function writeText(text: string, at: number): number {
  const length = scratch.write(text, at + longestVarint)
  const from = writeVarint(length, at)
  scratch.copyWithin(from, at + longestVarint, at + longestVarint + length)
  return from + length
}

/** Zigzag, seven bits a byte. Returns where it ends. */
function writeVarint(value: number, at: number): number {
  let end = at
  let rest = zigzag(value)
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) scratch[end++] = (rest % 0x80) | 0x80
  scratch[end++] = rest
  return end
}

function sizeOfVarint(value: number): number {
  let size = 1
  for (let rest = zigzag(value); rest > 0x7f; rest = Math.floor(rest / 0x80)) size++
  return size
}

const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value)
