import type { LogRecord, TopicPartition } from './ports.ts'
import type { EpochMs } from './time.ts'

/** `end` is the last stable offset: while a transaction is open, the offset of its first record. */
export interface OffsetRange {
  readonly beginning: number
  readonly end: number
}

/** A group's position in a partition. Without a commit, `offset` is -1 and `metadata` is empty. */
export interface Commit {
  readonly offset: number
  readonly metadata: string
}

/**
 * Reads parts of topics. Lists have one entry per partition, in partition order. All methods reject
 * with KafkaErrors.
 */
export interface LogSession {
  ranges(topic: string): Promise<readonly OffsetRange[]>
  /**
   * For each partition, the offset of the first record that was appended at `at` or later; the end
   * offset if the partition has no record from this time.
   */
  offsetsSince(topic: string, at: EpochMs): Promise<readonly number[]>
  /**
   * Reads the records of a partition. `to` is exclusive, and at most the end offset. `onRecord`
   * must copy keys and values that it keeps, or the whole fetch response stays in memory.
   */
  read(of: TopicPartition, from: number, to: number, onRecord: (record: LogRecord) => void): Promise<void>
  commits(groupId: string, topic: string): Promise<readonly Commit[]>
}

/**
 * Calls `use` with a session that is valid until `use` settles. If a KafkaError occurs on a reused
 * connection, `use` is called once more.
 */
export type WithLogSession = <T>(use: (session: LogSession) => Promise<T>) => Promise<T>
