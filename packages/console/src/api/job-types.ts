import type { DeadLetterFilters } from './response-types.ts'

export type JobState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'

interface Job {
  readonly id: string
  readonly state: JobState
  readonly createdAt: string
  readonly createdBy?: string
  readonly startedAt?: string
  readonly endedAt?: string
  /** Maximum number of messages per second that the job writes. */
  readonly rate?: number
  /** Why the job failed. For an active job: why the last try to continue the job failed. */
  readonly error?: string
  /**
   * Set after a request to cancel the running job. The process that runs the job stops it soon. The
   * field stays after the job has ended.
   */
  readonly cancelRequested?: boolean
}

export interface Replay extends Job {
  readonly kind: 'replay'
  /** Set when the job only counts dead letters, and replays none. */
  readonly dryRun?: true
  readonly filters: DeadLetterFilters
  /**
   * Numbers of dead letters. Each entry counts the dead letters with the same destination, the same
   * reason, and the same target topic or refusal.
   * - After a replay: only the dead letters that the replay refused.
   * - After a dry run: all selected dead letters. An entry without `refusal` counts dead letters
   *   that can be replayed.
   *
   * At most 200 entries, those with the highest counts.
   */
  readonly counts?: readonly { readonly count: number; readonly refusal?: string }[]
  readonly progress?: {
    readonly seen: number
    readonly total?: number
    readonly replayed: number
    /**
     * Only of a dry run: number of selected dead letters that can be replayed. Absent if a process
     * with an earlier version of Hookline made the dry run.
     */
    readonly replayable?: number
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
  /** The number of user ids. The role `read` gets this number in place of `userIds`. */
  readonly userCount?: number
  readonly progress?: {
    readonly read: number
    readonly total?: number
    readonly sent: number
    readonly skipped: number
    /** Number of selected events that are too large for the retry topic. */
    readonly tooLarge?: number
  }
  /**
   * Partitions in which Kafka's retention has removed records before the job read them. The removed
   * records may be in the time span, so the resend may be incomplete. `firstOffset` is the offset
   * of the first record after the removed ones. Not all records before `firstOffset` are missing in
   * the resend: the job may have read the oldest of them before their removal.
   */
  readonly missing?: readonly { readonly partition: number; readonly firstOffset: number }[]
}
