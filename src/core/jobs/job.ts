import { z } from 'zod'
import { deadLetterReasons } from '../delivery/classify-outcome.ts'
import { deadLetterOutcomes } from '../delivery/dead-letter-filter.ts'
import { callTypes } from '../message/message.ts'
import type { EpochMs } from '../time.ts'

/*
 * A job is a replay or a resend that the operator API starts. Its document is the value of a record
 * of the jobs topic, with the key `<kind>/<id>`. `job-log.ts` says which record of a job counts.
 */

export const jobKinds = ['replay', 'resend'] as const
export type JobKind = (typeof jobKinds)[number]

/** `waiting`: for an earlier job of the same destination, or for a process that runs it. */
export const jobStates = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const

/** Maximum rate of a job, in records per second. */
export const maxJobRate = 10_000
/** The rate of a resend without `rate`. */
export const defaultResendRate = 500
/** Maximum number of user ids of a resend. */
export const maxJobUserIds = 1_000
/** Maximum bytes of the user ids of a resend. Each record of the job has them. */
export const maxJobUserIdBytes = 64 * 1024
/** Maximum number of rows in the counts of a replay. Further kinds are not listed. */
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
  /** The target topic of these dead letters; absent when they are refused. */
  topic: z.string().optional(),
  refusal: z.string().optional(),
})
/** The number of selected dead letters with the same destination, reason, and target or refusal. */
export type CountRow = z.infer<typeof countRow>

const shared = z.object({
  /** The format of the document. Another version of Hookline may write another one. */
  format: z.literal(1),
  id: z.string().min(1),
  /** Increases by 1 with each record of the job. */
  version: z.int().positive(),
  /** Identifies the record: two processes may write the same version. */
  writeId: z.string().min(1),
  /** The number of the copy; 0 for a record that is not a copy. */
  copy: count,
  state: z.enum(jobStates),
  createdAt: time,
  /** The name of the operator key. */
  createdBy: z.string(),
  startedAt: time.optional(),
  endedAt: time.optional(),
  /** The process that runs the job. Absent while no process does. */
  owner: z.string().optional(),
  isCancelRequested: z.literal(true).optional(),
  isDryRun: z.literal(true).optional(),
  /** Maximum records per second; absent when only Kafka limits a replay. */
  rate: z.int().positive().optional(),
  /** The end offset of each partition that the job reads, at its creation. */
  ends: z.array(count),
  error: z.string().optional(),
})

const replayJob = shared.extend({
  kind: z.literal('replay'),
  filters: replayFilters,
  evenDisconnected: z.literal(true).optional(),
  progress: z.object({
    /** Number of dead letters visited so far, selected or not. */
    seen: count,
    total: count.optional(),
    /** At most 256 too low for each process that was killed. */
    replayed: count,
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
  progress: z.object({ read: count, total: count, sent: count, skipped: count }),
  /** Partitions of which retention has removed records that may be in the time span. */
  missing: z.array(z.object({ partition: count, firstOffset: count })).optional(),
})

/** The value of a record of the jobs topic. */
export const jobDocument = z.discriminatedUnion('kind', [replayJob, resendJob])

export type ReplayJob = Readonly<z.infer<typeof replayJob>>
export type ResendJob = Readonly<z.infer<typeof resendJob>>
export type Job = ReplayJob | ResendJob
/** The fields of a job that its work changes. */
export type JobWork = Partial<
  Pick<ReplayJob, 'counts'> & Pick<ResendJob, 'next'> & { readonly progress: Job['progress']; readonly error: string }
>

/** The partition of all jobs: only within a partition do all processes read the same order. */
export const jobsPartition = 0

export const jobKeyOf = ({ kind, id }: Pick<Job, 'kind' | 'id'>): string => `${kind}/${id}`

export const encodeJob = (job: Job): string => JSON.stringify(job)

/** Decodes the value of a record; `undefined` when it is not a job that this version can read. */
export function decodeJob(value: string): Job | undefined {
  try {
    return jobDocument.safeParse(JSON.parse(value)).data
  } catch {
    return undefined
  }
}

/** Whether a job has ended. An ended job never changes. */
export const hasEnded = ({ state }: Pick<Job, 'state'>): boolean => state !== 'waiting' && state !== 'running'

/** The destination of a job; `undefined` for a replay of the dead letters of all destinations. */
export const destinationOf = (job: Job): string | undefined =>
  job.kind === 'resend' ? job.destination : job.filters.destination

/**
 * Whether two jobs must not run concurrently: they have a destination in common, or both are
 * replays, each of which reads the whole dead-letter topic.
 */
export function conflicts(a: Job, b: Job): boolean {
  if (a.kind === 'replay' && b.kind === 'replay') return true
  const [one, other] = [destinationOf(a), destinationOf(b)]
  return one === undefined || other === undefined || one === other
}
