import type { EpochMs } from '../time.ts'
import { type ByteReader, readVarint, writeText, writeVarint } from '../varint.ts'

/**
 * The results of deliveries in the ledger. `moved`: the delivery continues with a copy in a retry
 * topic. Do not change the order, because commits store positions in this list.
 */
export const ledgerResults = ['delivered', 'dead_lettered', 'dropped', 'moved'] as const
export type LedgerResult = (typeof ledgerResults)[number]

/**
 * What the ledger counts for each destination and hour:
 * - `admitted`: deliveries of events that were read for the first time.
 * - The results of deliveries (`ledgerResults`).
 * - `taken`: deliveries of a copy, from a retry topic or a replay.
 * - `replayed`: the part of `taken` that comes from a replay or resend by an operator.
 * - `routed`: events that `admitted` counts twice, because their source or destination was unknown
 *   at first.
 *
 * Add a field only at the end: commits and ledger records store its position. One byte says which
 * fields have a count, so a ninth field needs another format.
 */
export const ledgerFields = ['admitted', ...ledgerResults, 'taken', 'replayed', 'routed'] as const
export type LedgerField = (typeof ledgerFields)[number]

/** The counts of one destination and hour. */
export type LedgerCell = Readonly<Record<LedgerField, number>>

/** An entry of the ledger, which adds 1 to the count `field` of `destination`. */
export interface LedgerEntry {
  readonly destination: string
  readonly field: LedgerField
}

export const hourMs = 3_600_000

/**
 * The hour of a time, in hours since 1970; 0 for a record without a timestamp, for which Kafka uses
 * -1.
 */
export const hourOf = (time: EpochMs): number => Math.max(0, Math.floor(time / hourMs))

export const emptyCell = Object.fromEntries(ledgerFields.map(field => [field, 0])) as LedgerCell

const toCell = (counts: readonly number[]): LedgerCell =>
  Object.fromEntries(ledgerFields.map((field, bit) => [field, counts[bit]])) as LedgerCell

const fieldBit = new Map(ledgerFields.map((field, bit) => [field, bit]))

/**
 * Estimated bytes of the counts in binary form: for each destination, `idBytes` plus the length of
 * its id; for each hour of a destination, `cellBytes`.
 */
const idBytes = 3
const cellBytes = 12

/** Counts by destination and hour. */
export class LedgerCounts {
  readonly #cells = new Map<string, Map<number, number[]>>()
  #roughBytes = 0

  /**
   * Estimated number of bytes that `write` appends. With large counts, the real number is up to
   * three times the estimate.
   */
  get roughBytes(): number {
    return this.#roughBytes
  }

  get isEmpty(): boolean {
    return this.#cells.size === 0
  }

  add(destination: string, hour: number, field: LedgerField, by = 1): void {
    const cell = this.#cell(destination, hour)
    const bit = fieldBit.get(field) as number
    cell[bit] = (cell[bit] as number) + by
  }

  /** Adds the counts of `other` for which `isWanted` returns true. */
  merge(other: LedgerCounts, isWanted: (destination: string, hour: number) => boolean = () => true): void {
    for (const [destination, hours] of other.#cells)
      for (const [hour, counts] of hours) {
        if (!isWanted(destination, hour)) continue
        addAll(this.#cell(destination, hour), counts)
      }
  }

  subtract(other: LedgerCounts): void {
    for (const [destination, hours] of other.#cells)
      for (const [hour, counts] of hours) {
        const cell = this.#cell(destination, hour)
        for (const [bit, count] of counts.entries()) cell[bit] = (cell[bit] as number) - count
        if (cell.every(count => count === 0)) this.#remove(destination, hour)
      }
  }

  /**
   * Returns a copy with a part of the counts. Copies counts until the `roughBytes` of the copy
   * reaches `maxBytes`.
   */
  copyPart(maxBytes: number): LedgerCounts {
    const copy = new LedgerCounts()
    copy.merge(this, () => copy.#roughBytes < maxBytes)
    return copy
  }

  /** The newest hour with counts; 0 without counts. */
  get newestHour(): number {
    let newest = 0
    for (const hours of this.#cells.values()) for (const hour of hours.keys()) newest = Math.max(newest, hour)
    return newest
  }

  at(destination: string, hour: number): LedgerCell | undefined {
    const cell = this.#cells.get(destination)?.get(hour)
    return cell && toCell(cell)
  }

  *cells(): Iterable<readonly [destination: string, hour: number, cell: LedgerCell]> {
    for (const [destination, hours] of this.#cells)
      for (const [hour, cell] of hours) yield [destination, hour, toCell(cell)]
  }

  /**
   * Appends the counts in binary form. For each hour, one byte says which fields have a count. Only
   * these counts follow.
   */
  write(bytes: number[]): void {
    writeVarint(bytes, this.#cells.size)
    for (const [destination, hours] of this.#cells) {
      writeText(bytes, destination)
      writeVarint(bytes, hours.size)
      for (const [hour, cell] of hours) {
        writeVarint(bytes, hour)
        bytes.push(maskOf(cell))
        for (const count of cell) if (count > 0) writeVarint(bytes, count)
      }
    }
  }

  #remove(destination: string, hour: number): void {
    const hours = this.#cells.get(destination)
    if (hours?.delete(hour) === true) this.#roughBytes -= cellBytes
    if (hours?.size !== 0) return
    this.#cells.delete(destination)
    this.#roughBytes -= idBytes + destination.length
  }

  #cell(destination: string, hour: number): number[] {
    let hours = this.#cells.get(destination)
    if (hours === undefined) {
      hours = new Map()
      this.#cells.set(destination, hours)
      this.#roughBytes += idBytes + destination.length
    }
    let cell = hours.get(hour)
    if (cell === undefined) {
      cell = new Array<number>(ledgerFields.length).fill(0)
      hours.set(hour, cell)
      this.#roughBytes += cellBytes
    }
    return cell
  }
}

function addAll(cell: number[], counts: readonly number[]): void {
  for (let bit = 0; bit < counts.length; bit++) cell[bit] = (cell[bit] as number) + (counts[bit] as number)
}

/** A byte with one bit for each field that has a count. */
function maskOf(cell: readonly number[]): number {
  let mask = 0
  for (let bit = 0; bit < cell.length; bit++) if ((cell[bit] as number) > 0) mask |= 1 << bit
  return mask
}

/** Decodes the bytes of `LedgerCounts.write`; `undefined` when they are malformed. */
export function readLedgerCounts(reader: ByteReader): LedgerCounts | undefined {
  const counts = new LedgerCounts()
  const destinations = readVarint(reader)
  if (destinations === undefined) return undefined
  for (let index = 0; index < destinations; index++) {
    const length = readVarint(reader)
    if (length === undefined || reader.at + length > reader.bytes.length) return undefined
    const destination = reader.bytes.toString('utf8', reader.at, reader.at + length)
    reader.at += length
    if (!readHours(reader, counts, destination)) return undefined
  }
  return counts
}

function readHours(reader: ByteReader, counts: LedgerCounts, destination: string): boolean {
  const hours = readVarint(reader)
  if (hours === undefined) return false
  for (let index = 0; index < hours; index++) {
    const hour = readVarint(reader)
    const mask = reader.bytes[reader.at++]
    if (hour === undefined || mask === undefined) return false
    for (const [bit, field] of ledgerFields.entries()) {
      if (((mask >> bit) & 1) === 0) continue
      const count = readVarint(reader)
      if (count === undefined) return false
      counts.add(destination, hour, field, count)
    }
  }
  return true
}
