import type { LogRecord, TopicPartition } from './ports.ts'
import type { EpochMs } from './time.ts'

/**
 * The offset of the first record in a partition, and the end offset. While a transaction is open,
 * the end offset is that of its first record (the last stable offset).
 */
export interface OffsetRange {
  readonly beginning: number
  readonly end: number
}

/**
 * The committed offset of a consumer group in a partition, and its metadata. Without a commit, they
 * are -1 and an empty text.
 */
export interface Commit {
  readonly offset: number
  readonly metadata: string
}

/**
 * Reads parts of topics over a shared connection. Lists have one entry per partition, in partition
 * order. All methods reject with KafkaErrors, for example `TOPIC_MISSING`.
 */
export interface LogSession {
  ranges(topic: string): Promise<readonly OffsetRange[]>
  /**
   * Returns, for each partition, the offset of the first record that was appended at the time `at`
   * or later; the end offset without one.
   */
  offsetsSince(topic: string, at: EpochMs): Promise<readonly number[]>
  /**
   * Reads the records from the offset `from` to the one before `to`, which must not be beyond the
   * end offset. `onRecord` must copy a key or value that it keeps: both are views of the whole
   * fetch response.
   */
  read(of: TopicPartition, from: number, to: number, onRecord: (record: LogRecord) => void): Promise<void>
  commits(groupId: string, topic: string): Promise<readonly Commit[]>
}

/**
 * Calls `use` with a session, which can be used until the promise of `use` has settled. If `use`
 * rejects with a KafkaError, and the shared connection was open before, `use` is called once more
 * with a new connection.
 */
export type WithLogSession = <T>(use: (session: LogSession) => Promise<T>) => Promise<T>
