import type { TopicPartition } from './ports.ts'
import type { EpochMs } from './time.ts'

/** The offsets of a partition in a time span. */
export interface OffsetSpan extends TopicPartition {
  /** The offset of the first record that retention has kept. */
  readonly beginning: number
  /** The first offset of the span. */
  readonly from: number
  /** The first offset after the span. */
  readonly to: number
}

/** Finds offsets by time. */
export interface OffsetsByTime {
  /**
   * Returns the offsets of the records that were appended at or after `since` and before `until`,
   * for each partition in partition order. Without `since`, the span starts at the beginning of the
   * partition. Without `until`, it ends at the current end.
   */
  spans(
    topic: string,
    time?: { readonly since?: EpochMs | undefined; readonly until?: EpochMs | undefined },
  ): Promise<readonly OffsetSpan[]>
}
