import type { DeadLetterFilters } from './response-types.ts'

export type JobState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'

interface Job {
  readonly id: string
  readonly state: JobState
  readonly createdAt: string
  readonly createdBy?: string
  readonly startedAt?: string
  readonly endedAt?: string
  readonly rate?: number
  /** Why the job failed or, for an active job, why the last try to continue it failed. */
  readonly error?: string
  /** Set after a request to cancel the job, which then ends soon. Stays set after the end. */
  readonly cancelRequested?: boolean
}

export interface Replay extends Job {
  readonly kind: 'replay'
  /** Set when the job only counts dead letters, and replays none. */
  readonly dryRun?: true
  readonly filters: DeadLetterFilters
  /**
   * Numbers of dead letters: a replay counts those that it refused, a dry run all that it selected.
   * Each entry counts the dead letters of one destination with the same reason, and the same target
   * topic or refusal. Only the 200 entries with the highest counts are listed.
   */
  readonly counts?: readonly { readonly count: number; readonly refusal?: string }[]
  readonly progress?: {
    readonly seen: number
    readonly total?: number
    readonly replayed: number
    /**
     * Only after a dry run: the number of dead letters that can be replayed. Absent if a process
     * with an earlier version of Hookline ran the job.
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
  /** The number of user ids. The role `read` gets it in place of `userIds`. */
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
   * Partitions in which Kafka's retention removed records before the job read them, so the resend
   * may be incomplete. `firstOffset` is the offset of the first record after the removed ones.
   */
  readonly missing?: readonly { readonly partition: number; readonly firstOffset: number }[]
}

export type AnyJob = Replay | Resend

/** The name of the list that contains a job, as in the URLs of the API and the console. */
export const jobListName = ({ kind }: Pick<AnyJob, 'kind'>): 'replays' | 'resends' =>
  kind === 'replay' ? 'replays' : 'resends'

export const isActive = ({ state }: Pick<AnyJob, 'state'>): boolean => state === 'waiting' || state === 'running'
