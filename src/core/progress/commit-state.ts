import { type PartlyDone, parsePartlyDone, partlyDoneText } from './partly-done.ts'

/** Names this format; what other tools and other versions left there is none of ours. */
const mark = 'd1:'
/** In offsets from the committed one on. As a bitmap 4,003 characters with the mark: the broker takes 4,096. */
const spanLimit = 24_000
const wellFormed = /^d1:[A-Za-z0-9+/]+={0,2}$/
const lengthLimit = mark.length + spanLimit / 6

/**
 * The offsets beyond a commit that are done already, as metadata of that commit: a bitmap from `committed` on. Those too far ahead are left
 * out, as are those below. Empty when there are none.
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
  return length === 0 ? '' : mark + bits.toString('base64', 0, length)
}

/** The maximum length of the text while no record beyond `received` is done. */
const doneAheadLength = (committed: number, received: number): number =>
  mark.length + 4 * Math.ceil(Math.min(received - committed, spanLimit) / 24)

/** The offsets that this part of a commit's metadata says are done; none when it is not ours, malformed or too long. */
export function parseDoneAhead(committed: number, metadata: string): Set<number> {
  const done = new Set<number>()
  if (metadata.length > lengthLimit || !wellFormed.test(metadata)) return done
  const bits = Buffer.from(metadata.slice(mark.length), 'base64')
  for (const [index, byte] of bits.entries())
    for (let bit = 0; byte >> bit > 0; bit++) if ((byte >> bit) & 1) done.add(committed + index * 8 + bit)
  return done
}

/** The broker's default for `offset.metadata.max.bytes`. */
const metadataLimit = 4_096
const separator = ';'
/** Offsets that may be received between the hand-over and its commit. */
const spareOffsets = 1_000

/** What is known of a partition beyond the offset that is committed. */
export interface CommitState {
  /** Records that are done. */
  readonly done: Iterable<number>
  /** Records that are done for some destinations only, in offset order. */
  readonly partlyDone: readonly PartlyDone[]
  /** The first offset of which nothing is known. */
  readonly received: number
}

export interface StateText {
  /** The metadata of the commit. */
  readonly text: string
  /** Partly done records that there was no room for. */
  readonly uncovered: readonly number[]
}

/**
 * The state as metadata of a commit. The bitmap of done records gets its room first, and as much as it can ever need
 * until more is received, so that a partly done record that has room now keeps it.
 */
export function commitText(committed: number, { done, partlyDone, received }: CommitState): StateText {
  const doneText = doneAheadText(committed, done)
  if (partlyDone.length === 0) return { text: doneText, uncovered: [] }
  const room = metadataLimit - doneAheadLength(committed, received + spareOffsets) - separator.length
  const { text, covered } = partlyDoneText(committed, partlyDone, room)
  const uncovered = partlyDone.slice(covered).map(([offset]) => offset)
  return { text: text === '' ? doneText : doneText + separator + text, uncovered }
}

/** What an earlier owner has left in its commit; what is not ours or malformed is ignored. */
export function parseCommit(
  committed: number,
  metadata: string,
): { readonly done: Set<number>; readonly partlyDone: Map<number, string[]> } {
  const [done = '', partlyDone = '', ...more] = metadata.split(separator)
  if (metadata.length > metadataLimit || more.length > 0) return { done: new Set(), partlyDone: new Map() }
  return { done: parseDoneAhead(committed, done), partlyDone: parsePartlyDone(committed, partlyDone) }
}
