import { doneAheadLength, doneAheadText, parseDoneAhead } from './done-ahead.ts'
import { type PartlyDone, parsePartlyDone, partlyDoneText } from './partly-done.ts'

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
