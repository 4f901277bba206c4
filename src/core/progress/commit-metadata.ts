import { type PartlyDone, parsePartlyDone, partlyDoneText } from './partly-done.ts'

/**
 * The prefix of the text that `doneAheadText` writes into the commit metadata. Texts of other tools
 * or versions have another prefix and are ignored.
 */
const prefix = 'd1:'
/**
 * Maximum distance of a done offset from the committed one. At this distance the bitmap takes 4,003
 * characters with its prefix; the broker accepts 4,096.
 */
const spanLimit = 24_000
const wellFormed = /^d1:[A-Za-z0-9+/]+={0,2}$/
const lengthLimit = prefix.length + spanLimit / 6

/**
 * Encodes the done offsets after the committed one as metadata of the commit: a bitmap that starts
 * at `committed`. Lower offsets and those beyond `spanLimit` are left out. The text is empty when
 * no offset remains.
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

/** The maximum length of `doneAheadText` as long as only offsets below `received` are done. */
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
 * Number of offsets for which the bitmap gets spare room. They may be received between the look
 * for records without room and the commit, and no record loses its room.
 */
const spareOffsets = 1_000

/** The state of a partition beyond its committed offset. */
export interface CommitState {
  /** Offsets of records that are done. */
  readonly done: Iterable<number>
  /** Records that are done for some of their destinations, in offset order. */
  readonly partlyDone: readonly PartlyDone[]
  /** The next offset to read. */
  readonly received: number
}

export interface StateText {
  /** The metadata of the commit. */
  readonly text: string
  /** Offsets of the partly done records for which the metadata has no room. */
  readonly uncovered: readonly number[]
}

/**
 * Encodes the state as metadata of a commit. It first reserves the maximum length of the bitmap, so
 * that a partly done record that fits now still fits when more records are done.
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
