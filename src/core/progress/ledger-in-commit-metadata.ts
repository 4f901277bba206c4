import { type LedgerResult, ledgerResults, readLedgerCounts } from '../ledger/ledger-counts.ts'
import type { LedgerTail } from '../ledger/partition-ledger.ts'
import { type ByteReader, readVarint, writeVarint } from '../varint.ts'
import type { PartlyDone } from './partly-done-records-in-commit-metadata.ts'

/**
 * The format version of the ledger tail. The tail is the part of a partition's ledger that the
 * commit metadata contains. A tail with another version is ignored.
 */
const version = 1

export type ResultOf = (offset: number, destination: string) => LedgerResult | undefined

/**
 * Maximum bytes of a ledger tail without counts and results: the version, three numbers and two
 * lengths.
 */
export const emptyTailBytes = 30

export function ledgerTailBytes(
  { exactSince, last, newestHour, counts }: LedgerTail,
  results: readonly number[],
): number[] {
  const bytes = [version]
  writeVarint(bytes, exactSince)
  writeVarint(bytes, last === undefined ? 0 : last + 1)
  if (last !== undefined) writeVarint(bytes, newestHour)
  writeVarint(bytes, results.length)
  for (const byte of results) bytes.push(byte)
  counts.write(bytes)
  return bytes
}

export interface ReadTail extends LedgerTail {
  readonly results: Buffer
}

/** Decodes the ledger tail at the reader's position; `undefined` without a valid tail there. */
export function readLedgerTail(reader: ByteReader): ReadTail | undefined {
  if (reader.bytes[reader.at++] !== version) return undefined
  const exactSince = readVarint(reader)
  const next = readVarint(reader)
  const newestHour = next === 0 ? 0 : readVarint(reader)
  const length = readVarint(reader)
  if (exactSince === undefined || next === undefined || newestHour === undefined || length === undefined)
    return undefined
  if (reader.at + length > reader.bytes.length) return undefined
  const results = reader.bytes.subarray(reader.at, reader.at + length)
  reader.at += length
  const counts = readLedgerCounts(reader)
  return counts && { exactSince, last: next === 0 ? undefined : next - 1, newestHour, counts, results }
}

/**
 * A result is one base-5 digit: 0 when unknown, otherwise its position in `ledgerResults` plus 1.
 * One byte has three digits.
 */
const base = ledgerResults.length + 1
const perByte = 3

/** The number of bytes that `partlyDoneResults` returns for these records. */
export const resultBytes = (records: readonly PartlyDone[]): number =>
  Math.ceil(records.reduce((sum, [, destinations]) => sum + new Set(destinations).size, 0) / perByte)

/** Encodes the results of partly done records, ordered by offset and then by destination. */
export function partlyDoneResults(records: readonly PartlyDone[], resultOf: ResultOf): readonly number[] {
  const bytes: number[] = []
  for (const [index, [offset, destination]] of pairsOf(records).entries()) {
    const result = resultOf(offset, destination)
    const value = result === undefined ? 0 : ledgerResults.indexOf(result) + 1
    const at = Math.floor(index / perByte)
    bytes[at] = (bytes[at] ?? 0) + value * base ** (index % perByte)
  }
  return bytes
}

/**
 * Decodes the bytes of `partlyDoneResults`. They contain neither offsets nor destinations, so
 * `records` must come from the same commit.
 */
export function parseResults(
  records: ReadonlyMap<number, readonly string[]>,
  results: Buffer,
): readonly (readonly [offset: number, destination: string, result: LedgerResult])[] {
  return pairsOf([...records].sort(([one], [other]) => one - other)).flatMap(([offset, destination], index) => {
    const byte = results[Math.floor(index / perByte)] ?? 0
    const result = ledgerResults[(Math.floor(byte / base ** (index % perByte)) % base) - 1]
    return result === undefined ? [] : [[offset, destination, result] as const]
  })
}

const pairsOf = (records: readonly PartlyDone[]): readonly (readonly [number, string])[] =>
  records.flatMap(([offset, destinations]) =>
    [...new Set(destinations)].sort().map(destination => [offset, destination] as const),
  )
