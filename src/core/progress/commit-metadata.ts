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
import { type PartlyDone, partlyDoneBytes, readerOf, readPartlyDone, toPartlyDoneText } from './partly-done-records.ts'

/** Texts with another prefix, of other tools or versions, are ignored. */
const prefix = 'd1:'
const wellFormed = /^d1:[A-Za-z0-9+/]+={0,2}$/
const lengthLimit = prefix.length + spanLimit / 6

/**
 * Encodes, as the text of a bitmap, which records from offset `committed` on are done. Offsets
 * beyond `spanLimit` are left out. The text is empty when no offset remains.
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
 * Number of offsets after `received` for which `encodeState` reserves space in the bitmap. Between
 * the check of `uncovered` and the commit, further records may be read. Without the reserve, the
 * longer bitmap could take the space of partly done records.
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
   * The partly done records that fit into the metadata, and their results, as bytes. `covered` is
   * the number of these records.
   */
  readonly partlyDone: readonly number[]
  readonly results: readonly number[]
  readonly covered: number
  /**
   * Offsets of the partly done records that do not fit into the metadata. This process has read all
   * of them.
   */
  readonly uncovered: readonly number[]
}

/**
 * Encodes the state of a partition for the metadata of a commit. The maximum length of the bitmap
 * is reserved first, and partly done records get the remaining bytes. So a record that fits now
 * still fits when more records are done.
 *
 * Partly done records of an earlier commit that this process has not read yet come first, and
 * always fit. If one were left out, a later owner would repeat its finished deliveries. A record
 * that was read can be left out: this process can write its remaining deliveries to a retry topic.
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
    covered: covered.length,
    uncovered: partlyDone.filter(record => !coveredSet.has(record)).map(([offset]) => offset),
  }
}

/**
 * Returns the commit metadata for a state, with the ledger in `tail`. Returns `undefined` if the
 * counts of the ledger do not fit, and must first move to a ledger record.
 *
 * The metadata has two parts: the bitmap, and the partly done records with the ledger at their end.
 * Earlier versions of Hookline would refuse a third part.
 */
export function metadataOf(
  { done, partlyDone, results, covered }: EncodedState,
  tail?: LedgerTail,
): string | undefined {
  if (tail === undefined) return covered === 0 ? done : done + separator + toPartlyDoneText(partlyDone)
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
