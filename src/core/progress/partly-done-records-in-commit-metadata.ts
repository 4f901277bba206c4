import { type ByteReader, readVarint, writeText, writeVarint } from '../varint.ts'
import { spanLimit } from './commit-metadata-span-limit.ts'

const prefix = 'p1:'
const wellFormed = /^p1:[A-Za-z0-9+/]+={0,2}$/
/**
 * Maximum sum of the destinations of all partly done records in one commit. Encoding this number of
 * destinations takes about 1 ms.
 */
const workLimit = 20_000

/** A record that is done for only some of its destinations. */
export type PartlyDone = readonly [offset: number, destinations: readonly string[]]

/**
 * Encodes `bytes` as text. The bytes contain partly done records, possibly followed by other data,
 * for example counts for the ledger.
 */
export const toPartlyDoneText = (bytes: readonly number[]): string => prefix + Buffer.from(bytes).toString('base64')

interface Options {
  /**
   * The number of bytes that the caller appends to the encoded records `covered`, for example for
   * counts of the ledger.
   */
  readonly extraBytes: (covered: readonly PartlyDone[]) => number
  /**
   * Number of records at the end of `records` that this process has not read yet; a previous owner
   * has partly done them. They have priority, because this process cannot finish them before it
   * hands over the partition. The next owner repeats the finished deliveries of records that do not
   * fit.
   */
  readonly unread: number
}

/**
 * Encodes as many records as fit into `room` characters, or up to a quarter fewer, because the
 * search for the number is coarse. The last `unread` records have priority. The bytes are the
 * offsets of the records, then each destination with the indexes of its records.
 */
export function partlyDoneBytes(
  committed: number,
  records: readonly PartlyDone[],
  room: number,
  { extraBytes, unread }: Options,
): { readonly bytes: readonly number[]; readonly covered: readonly PartlyDone[] } {
  const maxBytes = Math.floor((room - prefix.length) / 4) * 3
  const read = records.length - unread
  const byPriority = [...records.slice(read), ...records.slice(0, read)]
  let count = countWithinLimits(committed, byPriority)
  while (count > 0) {
    const covered = byPriority.slice(0, count).sort(([one], [other]) => one - other)
    const bytes = encode(committed, covered)
    if (bytes.length + extraBytes(covered) <= maxBytes) return { bytes, covered }
    const fewer = Math.floor(count * 0.75)
    count = count > unread ? Math.max(unread, fewer) : fewer
  }
  return { bytes: encode(committed, []), covered: [] }
}

function countWithinLimits(committed: number, records: readonly PartlyDone[]): number {
  let work = 0
  const beyond = records.findIndex(([offset, destinations]) => {
    work += destinations.length
    return offset - committed >= spanLimit || work > workLimit
  })
  return beyond < 0 ? records.length : beyond
}

function encode(committed: number, records: readonly PartlyDone[]): number[] {
  const byDestination = new Map<string, number[]>()
  for (const [row, [, destinations]] of records.entries())
    for (const destination of destinations) {
      const rows = byDestination.get(destination)
      if (rows === undefined) byDestination.set(destination, [row])
      else if (rows.at(-1) !== row) rows.push(row)
    }
  const bytes: number[] = []
  const offsets = records.map(([offset]) => offset - committed)
  writeSet(bytes, offsets)
  writeVarint(bytes, byDestination.size)
  for (const [destination, rows] of byDestination) {
    writeText(bytes, destination)
    writeSet(bytes, rows)
  }
  return bytes
}

/** Returns a reader of the bytes that `toPartlyDoneText` encoded; `undefined` for another text. */
export const readerOf = (text: string): ByteReader | undefined =>
  wellFormed.test(text) ? { bytes: Buffer.from(text.slice(prefix.length), 'base64'), at: 0 } : undefined

/**
 * Decodes the destinations for which each record is done, by offset, and moves `reader` to the byte
 * after the records. Returns `undefined` if the bytes are malformed.
 */
export function readPartlyDone(committed: number, reader: ByteReader): Map<number, string[]> | undefined {
  const parsed = new Map<number, string[]>()
  const offsets = readSet(reader, spanLimit)
  const count = readVarint(reader)
  if (offsets === undefined || count === undefined) return undefined
  for (let column = 0; column < count; column++) {
    const length = readVarint(reader)
    if (length === undefined || reader.at + length > reader.bytes.length) return undefined
    const destination = reader.bytes.toString('utf8', reader.at, reader.at + length)
    reader.at += length
    const rows = readSet(reader, offsets.length)
    if (rows === undefined) return undefined
    for (const row of rows) {
      const offset = committed + (offsets[row] as number)
      const destinations = parsed.get(offset)
      if (destinations === undefined) parsed.set(offset, [destination])
      else destinations.push(destination)
    }
  }
  return parsed
}

/** Writes a set of ascending numbers, as runs or as a bitmap, whichever is shorter. */
function writeSet(bytes: number[], values: readonly number[]): void {
  const asRuns: number[] = []
  let behind = 0
  for (let index = 0; index < values.length; ) {
    const first = values[index] as number
    let length = 1
    while (values[index + length] === first + length) length++
    writeVarint(asRuns, first - behind)
    writeVarint(asRuns, length)
    behind = first + length
    index += length
  }
  const bitmapLength = ((values.at(-1) ?? -1) >> 3) + 1
  const isBitmap = bitmapLength < asRuns.length
  const set = isBitmap ? bitmapOf(values, bitmapLength) : asRuns
  writeVarint(bytes, set.length * 2 + (isBitmap ? 1 : 0))
  for (const byte of set) bytes.push(byte)
}

function bitmapOf(values: readonly number[], length: number): readonly number[] {
  const bits = new Array<number>(length).fill(0)
  for (const value of values) bits[value >> 3] = (bits[value >> 3] as number) | (1 << (value & 7))
  return bits
}

/** Reads a set of numbers below `limit`; `undefined` when it is malformed. */
function readSet(reader: ByteReader, limit: number): readonly number[] | undefined {
  const header = readVarint(reader)
  if (header === undefined) return undefined
  const end = reader.at + Math.floor(header / 2)
  if (end > reader.bytes.length) return undefined
  const values = header % 2 === 1 ? readBitmap(reader, end) : readRuns(reader, end, limit)
  return values?.every(value => value < limit) === true ? values : undefined
}

function readBitmap(reader: ByteReader, end: number): readonly number[] {
  const values: number[] = []
  for (let base = 0; reader.at < end; base += 8) {
    const byte = reader.bytes[reader.at++] as number
    for (let bit = 0; byte >> bit > 0; bit++) if ((byte >> bit) & 1) values.push(base + bit)
  }
  return values
}

function readRuns(reader: ByteReader, end: number, limit: number): readonly number[] | undefined {
  const values: number[] = []
  let behind = 0
  while (reader.at < end) {
    const skip = readVarint(reader)
    const length = readVarint(reader)
    if (skip === undefined || length === undefined || behind + skip + length > limit) return undefined
    for (let value = behind + skip; value < behind + skip + length; value++) values.push(value)
    behind += skip + length
  }
  return values
}
