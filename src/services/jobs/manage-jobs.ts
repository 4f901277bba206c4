import type { Routing } from '../../core/delivery/route.ts'
import { type Job, type JobKind, jobKeyOf } from '../../core/jobs/job.ts'
import { type JobRequest, jobIdOf, readJobRequest, requestHashOf } from '../../core/jobs/job-request.ts'
import { cancelOf } from '../../core/jobs/job-transitions.ts'
import type { JobsApi, NewJob } from '../../core/jobs/jobs-api.ts'
import { type ObjectRefusal, objectRefusal } from '../../core/operator/object-refusal.ts'
import type { Clock, OffsetsByTime } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { JobStore } from './job-store.ts'

/** Maximum number of jobs of the installation that have not ended. Further jobs are refused. */
const maxOpen = 100
const maxListed = 100
const retryAfter = 5

interface Deps {
  readonly store: JobStore
  readonly offsets: OffsetsByTime
  readonly topics: TopicNames
  readonly routing: () => Routing
  readonly clock: Pick<Clock, 'now' | 'id'>
}

/** The operations of the operator API on the jobs of the installation. */
export function createManageJobs({ store, offsets, topics, routing, clock }: Deps): JobsApi {
  /** The first record of a new job, with the offsets at which the job will end. */
  async function jobOf(request: JobRequest, asked: NewJob, id: string): Promise<Job> {
    const first = { format: 1, id, version: 1, writeId: clock.id(), copy: 0, state: 'waiting' } as const
    const shared = { ...first, createdBy: asked.by, requestHash: hashOf(asked) }
    if (request.kind === 'replay') {
      const spans = await offsets.spans(topics.deadLetter)
      const ends = spans.map(({ to }) => to)
      return { ...shared, ...request, createdAt: clock.now(), ends, progress: { seen: 0, replayed: 0, refused: 0 } }
    }
    const spans = await offsets.spans(topics.events, request)
    const total = spans.reduce((sum, { from, to }) => sum + to - from, 0)
    const missing = spans
      .filter(({ beginning, from }) => beginning > 0 && from <= beginning)
      .map(({ partition, beginning }) => ({ partition, firstOffset: beginning }))
    return {
      ...{ ...shared, ...request, createdAt: clock.now() },
      ...{ ends: spans.map(({ to }) => to), next: spans.map(({ from }) => from) },
      progress: { read: 0, total, sent: 0, skipped: 0 },
      ...(missing.length > 0 && { missing }),
    }
  }

  async function create(asked: NewJob): Promise<Job | ObjectRefusal> {
    const { kind, body, by, idempotencyKey } = asked
    const id = idempotencyKey === undefined ? clock.id() : jobIdOf(kind, by, idempotencyKey)
    const earlier = store.get(jobKeyOf({ kind, id }))
    if (earlier !== undefined) return sameRequest(earlier, asked)
    const read = readJobRequest(kind, body, routing(), clock.now())
    if (read.kind === 'invalid')
      return objectRefusal('invalid_body', 'The body is not valid: see "problems".', { problems: read.problems })
    if (store.open().length >= maxOpen)
      return objectRefusal(
        'too_many_jobs',
        `The maximum of ${maxOpen} waiting or running replays and resends is reached: wait until one ends or cancel one, then send the request again.`,
      )
    let job: Job
    try {
      job = await jobOf(read.request, asked, id)
    } catch (error) {
      return objectRefusal(
        'unavailable',
        `Kafka did not report the offsets that the job needs, so no job was created (${(error as Error).message}): send the request again after the time in Retry-After.`,
        { retryAfter },
      )
    }
    const result = await store.create(job)
    if (result.kind === 'applied') return result.job
    // Requests with the same Idempotency-Key create the same job, so another process may have
    // created it.
    const other = store.get(jobKeyOf({ kind, id }))
    if (other !== undefined) return sameRequest(other, asked)
    return unconfirmed(result.kind === 'failed' ? result.detail : 'another process changed the job concurrently')
  }

  async function cancel(kind: JobKind, id: string): Promise<Job | ObjectRefusal> {
    const key = jobKeyOf({ kind, id })
    for (let job = await store.find(key); job !== undefined; job = store.get(key)) {
      const step = cancelOf(job, clock.now())
      if (step === undefined) return job
      const result = await store.write(job, step)
      if (result.kind === 'applied') return result.job
      if (result.kind === 'failed') return unconfirmed(result.detail)
      // The owner of the job wrote a newer record first, so the loop writes the cancellation again.
    }
    return notFound
  }

  return {
    create,
    cancel,
    list: kind =>
      store
        .all()
        .filter(job => job.kind === kind)
        .slice(0, maxListed),
    get: async (kind, id) => (await store.find(jobKeyOf({ kind, id }))) ?? notFound,
  }
}

const hashOf = ({ idempotencyKey, body }: NewJob): string | undefined =>
  idempotencyKey === undefined ? undefined : requestHashOf(body)

/**
 * Returns the job if the request repeats the one that created it. A job of an earlier version of
 * Hookline has no hash, so each request counts as a repetition.
 */
const sameRequest = (job: Job, asked: NewJob): Job | ObjectRefusal =>
  job.requestHash === undefined || job.requestHash === hashOf(asked) ? job : keyReused

const keyReused = objectRefusal(
  'idempotency_key_reused',
  'An earlier request with this Idempotency-Key had another body, so no job was created: see "problems".',
  {
    problems: [
      {
        path: 'Idempotency-Key',
        message: 'an earlier request with this Idempotency-Key had another body',
        hint: 'to create a new job, send a new Idempotency-Key; to get the earlier job, send the body of the earlier request',
      },
    ],
  },
)

const notFound = objectRefusal(
  'not_found',
  'No job has this id: check the id. Hookline keeps only the newest 1,000 ended jobs, each for 30 days.',
)

const unconfirmed = (detail: string): ObjectRefusal =>
  objectRefusal(
    'unavailable',
    `Hookline could not confirm that the job was created or cancelled (${detail}), but the request may have succeeded: list the jobs before you send the request again.`,
    { retryAfter },
  )
