import type { DeadLetterFilters } from './types.ts'

export type JobState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'

interface Job {
  readonly id: string
  readonly state: JobState
  readonly createdAt: string
  readonly createdBy?: string
  readonly startedAt?: string
  readonly endedAt?: string
  /** Maximum number of messages per second. */
  readonly rate?: number
  /** Why the job failed, or why the last try to continue an active job failed. */
  readonly error?: string
  /**
   * Set after a request to cancel the running job. The process that runs the job stops it soon. The
   * field stays after the job has ended.
   */
  readonly cancelRequested?: boolean
}

export interface Replay extends Job {
  readonly kind: 'replay'
  /** Set when the job only counts, and replays nothing. */
  readonly dryRun?: true
  readonly filters: DeadLetterFilters
  /**
   * The number of refused dead letters, in one entry for each destination, reason and refusal.
   * After a dry run, the entries cover all selected dead letters. Those in an entry without
   * `refusal` would be replayed.
   */
  readonly counts?: readonly { readonly count: number; readonly refusal?: string }[]
  readonly progress?: {
    readonly seen: number
    readonly total?: number
    readonly replayed: number
    readonly refused: number
  }
}

export interface Resend extends Job {
  readonly kind: 'resend'
  readonly dryRun?: true
  readonly destination: string
  readonly since: string
  readonly until: string
  readonly types?: readonly string[]
  readonly userIds?: readonly string[]
  /** The number of user ids, in place of `userIds` for the role `read`. */
  readonly userCount?: number
  readonly progress?: {
    readonly read: number
    readonly total?: number
    readonly sent: number
    readonly skipped: number
  }
  /**
   * The partitions from which retention has removed records that may be in the time span.
   * `firstOffset` is the first offset that is left.
   */
  readonly missing?: readonly { readonly partition: number; readonly firstOffset: number }[]
}
