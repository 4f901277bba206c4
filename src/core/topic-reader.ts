import type { LogRecord } from './ports.ts'
import type { EpochMs } from './units.ts'

/** Reads whole topics outside any group. */
export interface TopicReader {
  /** Every record up to the ends noted at the start; awaits what `onRecord` returns. Resolves with how many records were read. */
  readToEnd(topic: string, onRecord: (record: LogRecord) => void | Promise<void>, portion?: Portion): Promise<number>
}

/** What is wanted of a topic: all of it, but for what is said here. */
export interface Portion {
  /** Only the partition of records with this key. */
  readonly key?: Buffer
  /** Only what was appended at this time or later. */
  readonly since?: EpochMs
  /** Asked before each record, at least; true, and from then on: no more of them. */
  readonly isEnough?: () => boolean
}
