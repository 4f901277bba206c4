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

/**
 * The prefix of the text that `doneAheadText` writes into the commit metadata. Texts of other tools
 * or versions have another prefix and are ignored.
 */
const prefix = 'd1:'
const wellFormed = /^d1:[A-Za-z0-9+/]+={0,2}$/
const lengthLimit = prefix.length + spanLimit / 6

/**
 * Encodes which records after the committed offset are already done. The result is the text of a
 * bitmap, for the commit metadata. The first bit is for the offset `committed`. Offsets below
 * `committed` and those beyond `spanLimit` are left out. The text is empty when no offset remains.
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

/**
 * The maximum length, in characters, that the bitmap text (`doneAheadText`) can have when all done
 * records have offsets below `received`.
 */
const doneAheadLength = (committed: number, received: number): number =>
  prefix.length + 4 * Math.ceil(Math.min(received - committed, spanLimit) / 24)

/**
 * Parses the text of `doneAheadText`. The set is empty when the text is in another format,
 * malformed or too long.
 */
export function parseDoneAhead(committed: number, metadata: string): Set<number> {
  const done = new Set<number>()
  if (metadata.length > lengthLimit || !wellFormed.test(metadata)) return done
  const bits = Buffer.from(metadata.slice(prefix.length), 'base64')
  for (const [index, byte] of bits.entries())
    for (let bit = 0; byte >> bit > 0; bit++) if ((byte >> bit) & 1) done.add(committed + index * 8 + bit)
  return done
}

/**
 * Maximum length of commit metadata in bytes, which is also its length in characters, because the
 * text is ASCII. The number is the broker's default for `offset.metadata.max.bytes`.
 */
export const metadataLimit = 4_096
const separator = ';'
/**
 * Number of offsets after `received` for which `encodeState` reserves space in the bitmap of done
 * records. The dispatcher first determines which partly done records do not fit into the metadata
 * (`uncovered`), and commits later. Between these two steps it may read further records, and the
 * bitmap becomes longer. Without the reserve, the longer bitmap could take the space of partly done
 * records.
 */
const spareOffsets = 1_000

/** The state of a partition beyond its committed offset. */
export interface CommitState {
  /** Offsets of the records that are done: this process has nothing left to do for them. */
  readonly done: Iterable<number>
  /** The records that are done for only some of their destinations, in offset order. */
  readonly partlyDone: readonly PartlyDone[]
  /** The next offset that this process will read. */
  readonly received: number
  /**
   * Returns the result of a partly done record at one destination. The metadata of a partition with
   * a ledger contains these results. A partition without a ledger has no `resultOf`.
   */
  readonly resultOf?: ResultOf | undefined
}

/** The encoded state of a partition, to which `metadataOf` adds the ledger. */
export interface EncodedState {
  readonly committed: number
  readonly done: string
  /**
   * The partly done records that fit into the metadata, and their results, both encoded as bytes.
   * `covered` is the number of these records.
   */
  readonly partlyDone: readonly number[]
  readonly results: readonly number[]
  readonly covered: number
  /**
   * Offsets of the partly done records for which the metadata has no room. This process has read
   * all of them.
   */
  readonly uncovered: readonly number[]
}

/**
 * Encodes the state of a partition for the metadata of a commit. The function first reserves the
 * maximum length of the bitmap of done records. Partly done records get the remaining bytes. So a
 * partly done record that fits now still fits when more records are done.
 *
 * Among the partly done records, those that this process has not read yet get their bytes first.
 * They come from the metadata of an earlier commit. If one of them were left out, a later owner of
 * the partition would repeat its finished deliveries. A record that was read can be left out: this
 * process can write the record's remaining deliveries to a retry topic, and the record is then
 * done. All unread records fit, because they also fitted into the earlier metadata.
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
 * Returns the commit metadata for a state. With `tail`, the metadata includes the ledger. Returns
 * `undefined` if the counts of the ledger do not fit; the caller must then first move counts to a
 * ledger record.
 *
 * The metadata has two parts: the bitmap of done records, and the partly done records. The bytes of
 * the ledger are at the end of the second part. Earlier versions of Hookline ignore further bytes
 * there, but would refuse metadata with a third part.
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

/**
 * Parses the metadata that an earlier owner of the partition committed. Malformed text and other
 * formats are ignored.
 */
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
