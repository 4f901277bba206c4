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
   * Returns the offsets of the records appended from `since` to before `until`, in partition order.
   * Default: the whole partition.
   */
  spans(
    topic: string,
    time?: { readonly since?: EpochMs | undefined; readonly until?: EpochMs | undefined },
  ): Promise<readonly OffsetSpan[]>
}
