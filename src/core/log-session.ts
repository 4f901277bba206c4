import type { LogRecord, TopicPartition } from './ports.ts'
import type { EpochMs } from './time.ts'

/** The offsets of a partition: the first record, and one beyond the last. */
export interface OffsetRange {
  readonly beginning: number
  readonly end: number
}

/** What a group has committed in a partition: -1 and an empty text when it is nothing. */
export interface Commit {
  readonly offset: number
  readonly metadata: string
}

/**
 * Reads parts of topics, in any order, over one connection. Lists have one entry per partition, in
 * partition order. All methods reject with KafkaErrors, for example `TOPIC_MISSING`.
 */
export interface LogSession {
  ranges(topic: string): Promise<readonly OffsetRange[]>
  /** The first offset appended at this time or later; the end offset when there is none. */
  offsetsSince(topic: string, at: EpochMs): Promise<readonly number[]>
  /**
   * Reads the records from the first offset to the one before `to`, which must not be beyond the
   * end. `onRecord` must copy a key or value that it keeps.
   */
  read(of: TopicPartition, from: number, to: number, onRecord: (record: LogRecord) => void): Promise<void>
  commits(groupId: string, topic: string): Promise<readonly Commit[]>
}

/** Opens sessions, and closes each when `use` has settled. */
export type WithLogSession = <T>(use: (session: LogSession) => Promise<T>) => Promise<T>
