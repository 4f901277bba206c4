import { type PartlyDone, parsePartlyDone, partlyDoneText } from './partly-done.ts'

/**
 * The prefix of the text that `doneAheadText` writes into the commit metadata. Texts of other tools
 * or versions have another prefix and are ignored.
 */
const prefix = 'd1:'
/**
 * Maximum distance between the committed offset and the offset of a done record in the bitmap. At
 * this distance the bitmap with its prefix takes 4,003 characters; the broker accepts 4,096.
 */
const spanLimit = 24_000
const wellFormed = /^d1:[A-Za-z0-9+/]+={0,2}$/
const lengthLimit = prefix.length + spanLimit / 6

/**
 * Encodes which records after the committed offset are already done. The result is a bitmap for the
 * commit metadata, which starts at the offset `committed`. Offsets below `committed` and those
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

/**
 * The maximum length of the bitmap text (`doneAheadText`) while no offset from `received` on is
 * done.
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

/** The broker's default for `offset.metadata.max.bytes`. */
const metadataLimit = 4_096
const separator = ';'
/**
 * Number of further offsets for which space in the bitmap is reserved. The caller first reads
 * `uncovered`, the partly done records that do not fit into the metadata, and commits later. New
 * records may be received between these two steps and make the bitmap longer. With this reserve,
 * each record that fitted in the first step also fits at the commit.
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
}

export interface StateText {
  /** The metadata of the commit. */
  readonly text: string
  /** Offsets of the partly done records that do not fit into the metadata. */
  readonly uncovered: readonly number[]
}

/**
 * Encodes the state of a partition as the metadata of a commit. The bitmap of done records has
 * priority, so the function reserves the maximum length of the bitmap. A partly done record that
 * fits now therefore still fits when more records are done.
 */
export function commitText(committed: number, { done, partlyDone, received }: CommitState): StateText {
  const doneText = doneAheadText(committed, done)
  if (partlyDone.length === 0) return { text: doneText, uncovered: [] }
  const reserved = Math.max(doneText.length, doneAheadLength(committed, received + spareOffsets))
  const { text, covered } = partlyDoneText(committed, partlyDone, metadataLimit - reserved - separator.length)
  const uncovered = partlyDone.slice(covered).map(([offset]) => offset)
  return { text: text === '' ? doneText : doneText + separator + text, uncovered }
}

/**
 * Parses the metadata that an earlier owner of the partition committed. Malformed text and other
 * formats are ignored.
 */
export function parseCommit(
  committed: number,
  metadata: string,
): { readonly done: Set<number>; readonly partlyDone: Map<number, string[]> } {
  const [done = '', partlyDone = '', ...more] = metadata.split(separator)
  if (metadata.length > metadataLimit || more.length > 0) return { done: new Set(), partlyDone: new Map() }
  return { done: parseDoneAhead(committed, done), partlyDone: parsePartlyDone(committed, partlyDone) }
}
