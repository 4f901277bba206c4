/**
 * The prefix of the text that `partlyDoneText` makes for the commit metadata, with the version of
 * its format.
 */
const prefix = 'p1:'
const wellFormed = /^p1:[A-Za-z0-9+/]+={0,2}$/
/**
 * Maximum distance of a record from the committed offset, in offsets. It is the same as for the
 * bitmap of done records.
 */
const spanLimit = 24_000
/**
 * Maximum number of encoded destinations, summed over all records. Encoding this many takes about 1
 * ms.
 */
const workLimit = 20_000

/** A record that is done for only some of its destinations, and these destinations. */
export type PartlyDone = readonly [offset: number, destinations: readonly string[]]

export interface PartlyDoneText {
  /** The encoded records; empty when none fits. */
  readonly text: string
  /** The number of records in the text: the first ones of the given records. */
  readonly covered: number
}

/**
 * Encodes partly done records, each with the destinations that are done with it. The next owner of
 * the partition then delivers the record only to the other destinations. If not all records fit
 * into `room` characters, the text contains only the first ones.
 *
 * The format is binary, in base64. It starts with the set of the offsets. Then it has, for each
 * destination, its id and the set of its done records, as indexes into the offsets.
 *
 * @param records in offset order.
 */
export function partlyDoneText(committed: number, records: readonly PartlyDone[], room: number): PartlyDoneText {
  for (let covered = countWithinLimits(committed, records); covered > 0; covered = Math.floor(covered * 0.75)) {
    const text = prefix + encode(committed, records.slice(0, covered))
    if (text.length <= room) return { text, covered }
  }
  return { text: '', covered: 0 }
}

function countWithinLimits(committed: number, records: readonly PartlyDone[]): number {
  let work = 0
  const beyond = records.findIndex(([offset, destinations]) => {
    work += destinations.length
    return offset - committed >= spanLimit || work > workLimit
  })
  return beyond < 0 ? records.length : beyond
}

function encode(committed: number, records: readonly PartlyDone[]): string {
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
  writeNumber(bytes, byDestination.size)
  for (const [destination, rows] of byDestination) {
    const id = Buffer.from(destination)
    writeNumber(bytes, id.length)
    bytes.push(...id)
    writeSet(bytes, rows)
  }
  return Buffer.from(bytes).toString('base64')
}

/**
 * Parses the text of `partlyDoneText`. The result is empty when the text is malformed or in another
 * format; these records are then delivered to all destinations again.
 */
export function parsePartlyDone(committed: number, text: string): Map<number, string[]> {
  const parsed = new Map<number, string[]>()
  if (!wellFormed.test(text)) return parsed
  const reader = { bytes: Buffer.from(text.slice(prefix.length), 'base64'), at: 0 }
  const offsets = readSet(reader, spanLimit)
  const count = readNumber(reader)
  if (offsets === undefined || count === undefined) return parsed
  for (let column = 0; column < count; column++) {
    const length = readNumber(reader)
    if (length === undefined || reader.at + length > reader.bytes.length) return new Map()
    const destination = reader.bytes.toString('utf8', reader.at, reader.at + length)
    reader.at += length
    const rows = readSet(reader, offsets.length)
    if (rows === undefined) return new Map()
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
    writeNumber(asRuns, first - behind)
    writeNumber(asRuns, length)
    behind = first + length
    index += length
  }
  const bitmapLength = ((values.at(-1) ?? -1) >> 3) + 1
  const isBitmap = bitmapLength < asRuns.length
  const set = isBitmap ? bitmapOf(values, bitmapLength) : asRuns
  writeNumber(bytes, set.length * 2 + (isBitmap ? 1 : 0))
  for (const byte of set) bytes.push(byte)
}

function bitmapOf(values: readonly number[], length: number): readonly number[] {
  const bits = new Array<number>(length).fill(0)
  for (const value of values) bits[value >> 3] = (bits[value >> 3] as number) | (1 << (value & 7))
  return bits
}

interface Reader {
  readonly bytes: Buffer
  at: number
}

/** Reads a set. `undefined` when it is malformed or contains a number of at least `limit`. */
function readSet(reader: Reader, limit: number): readonly number[] | undefined {
  const header = readNumber(reader)
  if (header === undefined) return undefined
  const end = reader.at + (header >> 1)
  if (end > reader.bytes.length) return undefined
  const values = (header & 1) === 1 ? readBitmap(reader, end) : readRuns(reader, end, limit)
  return values?.every(value => value < limit) === true ? values : undefined
}

function readBitmap(reader: Reader, end: number): readonly number[] {
  const values: number[] = []
  for (let base = 0; reader.at < end; base += 8) {
    const byte = reader.bytes[reader.at++] as number
    for (let bit = 0; byte >> bit > 0; bit++) if ((byte >> bit) & 1) values.push(base + bit)
  }
  return values
}

function readRuns(reader: Reader, end: number, limit: number): readonly number[] | undefined {
  const values: number[] = []
  let behind = 0
  while (reader.at < end) {
    const skip = readNumber(reader)
    const length = readNumber(reader)
    if (skip === undefined || length === undefined || behind + skip + length > limit) return undefined
    for (let value = behind + skip; value < behind + skip + length; value++) values.push(value)
    behind += skip + length
  }
  return values
}

/** Writes a number as a varint: seven bits per byte, the lowest first. */
function writeNumber(bytes: number[], value: number): void {
  let left = value
  for (; left > 127; left >>= 7) bytes.push((left & 127) | 128)
  bytes.push(left)
}

/** Reads a varint; `undefined` when it has more than 28 bits, or the bytes end. */
function readNumber(reader: Reader): number | undefined {
  let value = 0
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = reader.bytes[reader.at++]
    if (byte === undefined) return undefined
    value |= (byte & 127) << shift
    if (byte < 128) return value
  }
  return undefined
}
