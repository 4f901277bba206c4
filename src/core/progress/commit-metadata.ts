import type { LedgerTail } from '../ledger/partition-ledger.ts'
import { spanLimit } from './commit-metadata-span-limit.ts'
import {
  emptyTailBytes,
  ledgerTailBytes,
  partlyDoneResults,
  type ReadTail,
  type ResultOf,
  readLedgerTail,
  resultBytes,
} from './ledger-in-commit-metadata.ts'
import {
  type PartlyDone,
  partlyDoneBytes,
  readerOf,
  readPartlyDone,
  toPartlyDoneText,
} from './partly-done-records-in-commit-metadata.ts'

/**
 * The prefix of the text that contains the bitmap of done records. Texts with another prefix, which
 * other tools or versions wrote, are ignored.
 */
const prefix = 'd1:'
const wellFormed = /^d1:[A-Za-z0-9+/]+={0,2}$/
const lengthLimit = prefix.length + spanLimit / 6

/**
 * Returns the text of a bitmap of the done records from `committed` on, without offsets beyond
 * `spanLimit`. The text is empty if no offset remains.
 */
export function doneAheadText(committed: number, done: Iterable<number>): string {
  const bits = Buffer.alloc(spanLimit / 8)
  let length = 0
  for (const offset of done) {
    const bit = offset - committed
    if (bit < 0 || bit >= spanLimit) continue
    const byte = bit >> 3
    bits[byte] = (bits[byte] as number) | (1 << (bit & 7))
    length = Math.max(length, byte + 1)
  }
  return length === 0 ? '' : prefix + bits.toString('base64', 0, length)
}

/** Maximum length of the bitmap text when all done records have offsets below `received`. */
const doneAheadLength = (committed: number, received: number): number =>
  prefix.length + 4 * Math.ceil(Math.min(received - committed, spanLimit) / 24)

/** Parses the text of `doneAheadText`. The set is empty when the text is not valid. */
export function parseDoneAhead(committed: number, metadata: string): Set<number> {
  const done = new Set<number>()
  if (metadata.length > lengthLimit || !wellFormed.test(metadata)) return done
  const bits = Buffer.from(metadata.slice(prefix.length), 'base64')
  for (const [index, byte] of bits.entries())
    for (let bit = 0; byte >> bit > 0; bit++) if ((byte >> bit) & 1) done.add(committed + index * 8 + bit)
  return done
}

/**
 * Maximum length of commit metadata in bytes, the broker's default for `offset.metadata.max.bytes`.
 * The text is ASCII.
 */
export const metadataLimit = 4_096
const separator = ';'
/**
 * Number of further offsets for which space in the bitmap is reserved: records that are read
 * between the check of `uncovered` and the commit make the bitmap longer.
 */
const spareOffsets = 1_000

/** The state of a partition beyond its committed offset. */
export interface CommitState {
  readonly done: Iterable<number>
  /** The records that are done for only some of their destinations, in offset order. */
  readonly partlyDone: readonly PartlyDone[]
  /** The next offset that this process will read. */
  readonly received: number
  /** The result of a partly done record at one destination; absent without a ledger. */
  readonly resultOf?: ResultOf | undefined
}

export interface EncodedState {
  readonly committed: number
  readonly done: string
  /**
   * The encoded bytes of the partly done records that fit into the metadata. `results` are the
   * encoded results of these records, and `coveredCount` is the number of these records.
   */
  readonly partlyDone: readonly number[]
  readonly results: readonly number[]
  readonly coveredCount: number
  /** Offsets of the partly done records that do not fit into the metadata. */
  readonly uncovered: readonly number[]
}

/**
 * Encodes the state. Reserves the maximum length of the bitmap (`done`), so that a partly done
 * record that fits now still fits later. Partly done records have priority if only an earlier owner
 * has read them (see `partlyDoneBytes`).
 */
export function encodeState(committed: number, { done, partlyDone, received, resultOf }: CommitState): EncodedState {
  const doneText = doneAheadText(committed, done)
  const isEmpty = partlyDone.length === 0
  const reserved = isEmpty ? 0 : Math.max(doneText.length, doneAheadLength(committed, received + spareOffsets))
  const extraBytes = (records: readonly PartlyDone[]): number =>
    resultOf === undefined ? 0 : emptyTailBytes + resultBytes(records)
  const room = metadataLimit - reserved - separator.length
  const unread = partlyDone.filter(([offset]) => offset >= received).length
  const { bytes, covered } = partlyDoneBytes(committed, partlyDone, room, { extraBytes, unread })
  const coveredSet = new Set(covered)
  return {
    committed,
    done: doneText,
    partlyDone: bytes,
    results: resultOf === undefined ? [] : partlyDoneResults(covered, resultOf),
    coveredCount: covered.length,
    uncovered: partlyDone.filter(record => !coveredSet.has(record)).map(([offset]) => offset),
  }
}

/**
 * Returns the text of the metadata: one or two parts, separated by `;`. Returns `undefined` if the
 * counts of the ledger do not fit. Do not add a third part: earlier versions of Hookline would
 * ignore the whole text.
 */
export function metadataOf(
  { done, partlyDone, results, coveredCount }: EncodedState,
  tail?: LedgerTail,
): string | undefined {
  if (tail === undefined) return coveredCount === 0 ? done : done + separator + toPartlyDoneText(partlyDone)
  if (tail.counts.roughBytes > metadataLimit) return undefined
  const text = done + separator + toPartlyDoneText([...partlyDone, ...ledgerTailBytes(tail, results)])
  return text.length > metadataLimit ? undefined : text
}

export interface ParsedCommit {
  readonly done: Set<number>
  readonly partlyDone: Map<number, string[]>
  /** `undefined` when a version without the ledger wrote the commit. */
  readonly ledger?: ReadTail | undefined
}

/** Parses the metadata that an earlier owner committed. Text in another format is ignored. */
export function parseCommit(committed: number, metadata: string): ParsedCommit {
  const [done = '', text = '', ...more] = metadata.split(separator)
  if (metadata.length > metadataLimit || more.length > 0) return { done: new Set(), partlyDone: new Map() }
  const reader = readerOf(text)
  const partlyDone = reader && readPartlyDone(committed, reader)
  return {
    done: parseDoneAhead(committed, done),
    partlyDone: partlyDone ?? new Map(),
    ledger: partlyDone && readLedgerTail(reader),
  }
}
