import { z } from 'zod'
import { deadLetterOutcomes } from '../delivery/dead-letter-filter.ts'
import { deadLetterReasons } from '../delivery/outcomes-reasons-and-classification.ts'
import { jsonValueIn } from '../message/json.ts'
import { callTypes } from '../message/message.ts'
import type { EpochMs } from '../time.ts'

/*
 * A job is a replay or a resend, stored as a record of the jobs topic with the key `<kind>/<id>`.
 */

export const jobKinds = ['replay', 'resend'] as const
export type JobKind = (typeof jobKinds)[number]

/**
 * `waiting`: the job waits for an earlier conflicting job (see `conflicts`), or for a process that
 * starts it.
 */
export const jobStates = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const

/** Maximum number of user ids of a resend. */
export const maxJobUserIds = 1_000
/** Maximum bytes of the user ids of a resend. Each record of the job contains these ids. */
export const maxJobUserIdBytes = 64 * 1024
/**
 * Maximum number of rows in the `counts` of a replay. The rows with the highest counts are kept.
 */
export const maxCountRows = 200

const time = z.int().transform(value => value as EpochMs)
const count = z.int().nonnegative()

const replayFilters = z.object({
  destination: z.string().optional(),
  reason: z.enum(deadLetterReasons).optional(),
  outcome: z.enum(deadLetterOutcomes).optional(),
  since: time.optional(),
  until: time.optional(),
  messageId: z.string().optional(),
})

const countRow = z.object({
  destination: z.string(),
  reason: z.string(),
  count,
  /** The target topic; absent when the replay refuses the dead letters of this row. */
  topic: z.string().optional(),
  refusal: z.string().optional(),
})
/**
 * A row of a replay's `counts`: the number of dead letters with one destination, reason, and target
 * topic or refusal.
 */
export type CountRow = z.infer<typeof countRow>

const shared = z.object({
  /** The version of the document's format. */
  format: z.literal(1),
  id: z.string().min(1),
  /** Increases by 1 with each record that changes the job. */
  version: z.int().positive(),
  /** Identifies the record, because two processes may write the same version. */
  writeId: z.string().min(1),
  /**
   * 0 in a record that changes the job. If compaction would keep only an ignored record of the job,
   * a process writes the current version again (see `jobs-from-topic.ts`). The first copy of a
   * version has 1, the next 2, and so on.
   */
  copy: count,
  state: z.enum(jobStates),
  createdAt: time,
  /** The name of the operator key with which the job was created. */
  createdBy: z.string(),
  startedAt: time.optional(),
  endedAt: time.optional(),
  /**
   * A hash of the request body. A second request with the same `Idempotency-Key` must have the same
   * hash.
   */
  requestHash: z.string().optional(),
  /** The process that runs the job, if any. */
  owner: z.string().optional(),
  /** Set by a request to cancel the running job. The field remains when the job has ended. */
  isCancelRequested: z.literal(true).optional(),
  isDryRun: z.literal(true).optional(),
  /**
   * Maximum number of records that the job writes per second. Absent: no limit for a replay,
   * `defaultResendRate` for a resend.
   */
  rate: z.int().positive().optional(),
  /**
   * For each partition that the job reads, the end offset when the job was created. The job reads
   * only records below this offset.
   */
  ends: z.array(count),
  /**
   * Why the job, or the last try to continue it, failed. Removed when the job makes progress again.
   */
  error: z.string().optional(),
})

const replayJob = shared.extend({
  kind: z.literal('replay'),
  filters: replayFilters,
  evenDisconnected: z.literal(true).optional(),
  progress: z.object({
    /** Number of dead letters that the job has read so far, selected or not. */
    seen: count,
    /**
     * Total number of dead letters, counted when a process begins or continues the job: those that
     * the job has already replayed, plus those that remain in the topic.
     */
    total: count.optional(),
    /**
     * Number of replayed dead letters. Each time that a process is killed while it runs the job,
     * the number can become too low by up to 256.
     */
    replayed: count,
    /** Only of a dry run: number of selected dead letters that can be replayed. */
    replayable: count.optional(),
    refused: count,
  }),
  counts: z.array(countRow).optional(),
})

const resendJob = shared.extend({
  kind: z.literal('resend'),
  destination: z.string(),
  since: time,
  until: time,
  types: z.array(z.enum(callTypes)).optional(),
  userIds: z.array(z.string()).optional(),
  /** The next offset to read in each partition. */
  next: z.array(count),
  /** For each partition, an offset: the job has read all records from this offset up to `next`. */
  readFrom: z.array(count).optional(),
  progress: z.object({
    ...{ read: count, total: count, sent: count, skipped: count },
    /** Number of selected events that are too large for the retry topic. Absent if it is 0. */
    tooLarge: count.optional(),
  }),
  /**
   * Partitions in which Kafka's retention removed records before the job read them. The resend may
   * lack these records.
   */
  missing: z.array(z.object({ partition: count, firstOffset: count })).optional(),
})

/** The value of a record of the jobs topic. */
export const jobDocument = z.discriminatedUnion('kind', [replayJob, resendJob])

export type ReplayJob = Readonly<z.infer<typeof replayJob>>
export type ResendJob = Readonly<z.infer<typeof resendJob>>
export type Job = ReplayJob | ResendJob
/** The fields of a job that its owner changes while it works on the job. */
export type JobWork = Partial<
  Pick<ReplayJob, 'counts'> &
    Pick<ResendJob, 'next' | 'readFrom' | 'missing'> & {
      readonly progress: Job['progress']
      readonly error: string | undefined
    }
>

/**
 * All records of the jobs topic are in this partition, because Kafka keeps an order only within a
 * partition.
 */
export const jobsPartition = 0

export const jobKeyOf = ({ kind, id }: Pick<Job, 'kind' | 'id'>): string => `${kind}/${id}`

export const encodeJob = (job: Job): string => JSON.stringify(job)

/** Decodes a job; `undefined` when this version of Hookline cannot read the value as a job. */
export const decodeJob = (value: string): Job | undefined => jobDocument.safeParse(jsonValueIn(value)).data

/** Whether a job has ended. An ended job never changes. */
export const hasEnded = ({ state }: Pick<Job, 'state'>): boolean => state !== 'waiting' && state !== 'running'

/** The destination of a job; `undefined` for a replay of the dead letters of all destinations. */
export const destinationOf = (job: Job): string | undefined =>
  job.kind === 'resend' ? job.destination : job.filters.destination

/**
 * Whether two jobs must not run concurrently. Two replays always conflict, because each keeps up to
 * 500,000 keys in memory.
 */
export function conflicts(a: Job, b: Job): boolean {
  if (a.kind === 'replay' && b.kind === 'replay') return true
  if (a.isDryRun === true || b.isDryRun === true) return false
  const [one, other] = [destinationOf(a), destinationOf(b)]
  return one === undefined || other === undefined || one === other
}
