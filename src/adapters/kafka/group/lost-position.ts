import type { TopicPartition } from '../../../core/ports.ts'

/** A position that the log no longer has (OFFSET_OUT_OF_RANGE), and its replacement. */
export interface LostPosition extends TopicPartition {
  /** The old position. */
  readonly from: number
  /**
   * The new position. If it is above `from`, retention has deleted the records in between before
   * this group read them. If it is below `from`, the log was truncated. Then `to` is the committed
   * offset, or the end of the log if that is lower.
   */
  readonly to: number
}

/** The offset from `beginning` to `end` that is closest to `position`. */
export function nearestOffset(position: number, beginning: number, end: number): number {
  return Math.min(Math.max(position, beginning), end)
}

/**
 * How many offsets were skipped. For a truncated log the result is 1, because the number of lost
 * records is not known.
 */
export const skippedOffsets = ({ from, to }: Pick<LostPosition, 'from' | 'to'>): number => Math.max(1, to - from)
