import { decodeJob, encodeJob, type Job, jobKeyOf, jobsPartition } from '../../core/jobs/job.ts'
import type { NextRecord } from '../../core/jobs/job-transitions.ts'
import { JobLog } from '../../core/jobs/jobs-from-topic.ts'
import { createFirstFailureLog } from '../../core/logging/first-failure-log.ts'
import { unreadBatchFields } from '../../core/logging/unread-batch-fields.ts'
import type { Cancel, Clock, Logger, LogProducer, LogRecord, TopicFollower } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import { isTooLarge } from '../is-record-too-large.ts'
import { notReadBack, readBackLimit } from '../read-own-record-timeout.ts'

/**
 * If a job's newest record is ignored, the process writes the last valid record again after this
 * time. Otherwise, compaction would keep only the ignored record.
 */
const copyAfter = durationMs(5_000)
const findTimeout = durationMs(1_000)

export type WriteResult =
  | { readonly kind: 'applied'; readonly job: Job }
  /**
   * The record has no effect: another record already has its version, the job has ended, or a
   * conflicting job runs.
   */
  | { readonly kind: 'ignored' }
  /**
   * The write failed or was not confirmed. The record may be in force nevertheless, unless it is
   * too large.
   */
  | { readonly kind: 'failed'; readonly detail: string; readonly isTooLarge?: boolean }

interface Deps {
  readonly follower: TopicFollower
  readonly producer: LogProducer
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
}

/** The jobs of the installation. Each operator process reads all of them from the jobs topic. */
export interface JobStore {
  /**
   * Resolves when the topic has been read to its end. Rejects when no retry of a failed read is
   * left.
   */
  start(): Promise<void>
  stop(): Promise<void>
  /** Calls `changed` with a job when a new record of the job is in force. */
  listen(changed: (job: Job) => void): void
  /** The jobs that have not ended. */
  open(): readonly Job[]
  /** All jobs, newest first. */
  all(): readonly Job[]
  get(key: string): Job | undefined
  /**
   * Returns a job. Waits up to 1 s for an unknown one, which another process may have just created.
   */
  find(key: string): Promise<Job | undefined>
  /** Milliseconds since this process read the last record of a job. */
  sinceLastRecord(job: Job): DurationMs
  /**
   * Writes the first record of a job, and reads it back, because a concurrent record may precede
   * it. Never rejects.
   */
  create(job: Job): Promise<WriteResult>
  /** Writes the next record of a job, and reads it back as `create` does. */
  write(job: Job, nextRecord: NextRecord): Promise<WriteResult>
}

const damaged =
  'a record of the jobs topic cannot be decoded; hookline ignores it: a newer version of hookline may have written it, so update this process'

const unread =
  'records of the jobs topic cannot be read (see "detail"), so the list of jobs may be incomplete or outdated: if a replay or resend that was created at about the time in "writtenAt" is missing, create it again'

const notWritten =
  'hookline could not save the state of a job (a replay or a resend) in the jobs topic (see "error"): check Kafka; hookline repeats the write every 0.5 s; until a write succeeds, a waiting job does not start, and a running job soon pauses'

export function createJobStore({ follower, producer, topic, clock, logger }: Deps): JobStore {
  const listeners: ((job: Job) => void)[] = []
  const writes = new Map<string, (result: WriteResult) => void>()
  const readAt = new Map<string, number>()
  const searches = createSearches(clock, key => log.get(key))
  let log = new JobLog()
  /**
   * The jobs read so far, if the topic is being read again because Kafka lost records. They replace
   * `log` when the end of the topic is reached.
   */
  let rebuilt: JobLog | undefined
  const copies = createCopies({ copies: () => log.copies(), producer, topic, clock, logger })

  function onRecord(record: LogRecord): void {
    const { partition, offset, key, value, unreadBatch } = record
    if (partition !== jobsPartition) return
    if (unreadBatch !== undefined) return logger.error(unreadBatchFields(record, unreadBatch), unread)
    if (key === null) return
    const into = rebuilt ?? log
    const job = decodeJob(value?.toString() ?? '')
    if (job === undefined || jobKeyOf(job) !== key.toString()) {
      logger.error({ topic, partition, offset }, damaged)
      into.requestCopy(key.toString())
      return copies.soon()
    }
    const result = into.apply(job)
    if (result === 'ignored') copies.soon()
    else note(job, result !== 'repeated' && rebuilt === undefined)
    searches.wake(jobKeyOf(job))
    if (job.copy === 0) writes.get(job.writeId)?.(result === 'ignored' ? { kind: 'ignored' } : { kind: 'applied', job })
  }

  function note(job: Job, isChanged: boolean): void {
    readAt.set(jobKeyOf(job), clock.monotonic())
    if (isChanged) for (const changed of listeners) changed(job)
  }

  function onCurrent(): void {
    log = rebuilt ?? log
    rebuilt = undefined
    log.markRead()
    const open = new Set([...log.open].map(jobKeyOf))
    for (const key of readAt.keys()) if (!open.has(key)) readAt.delete(key)
  }

  function onTruncated(partition: number): void {
    if (partition === jobsPartition) rebuilt = new JobLog()
  }

  async function create(job: Job): Promise<WriteResult> {
    const { promise, resolve } = Promise.withResolvers<WriteResult>()
    const cancel = clock.after(readBackLimit, () => resolve({ kind: 'failed', detail: notReadBack(topic) }))
    writes.set(job.writeId, resolve)
    producer.append(topic, recordOf(job), error => {
      if (error !== undefined) resolve({ kind: 'failed', detail: error.message, isTooLarge: isTooLarge(error) })
    })
    const result = await promise
    cancel()
    writes.delete(job.writeId)
    return result
  }

  return {
    start: () => follower.start({ onRecord, onCurrent, onTruncated }),
    async stop() {
      copies.stop()
      await follower.stop()
    },
    listen: changed => void listeners.push(changed),
    open: () => [...log.open],
    all: () => [...log.ended(clock.now()), ...log.open].sort((a, b) => b.createdAt - a.createdAt),
    get: key => log.get(key),
    find: searches.find,
    sinceLastRecord: job => durationMs(clock.monotonic() - (readAt.get(jobKeyOf(job)) ?? 0)),
    create,
    write: (job, nextRecord) => create(nextRecord(job, clock.id())),
  }
}

/** Like `JobStore.write`, and logs the first of several failed writes in succession. */
export function createLoggedWrite(store: Pick<JobStore, 'write'>, logger: Logger): JobStore['write'] {
  const note = createFirstFailureLog(logger, notWritten)
  return async (job, nextRecord) => {
    const result = await store.write(job, nextRecord)
    note({ kind: job.kind, id: job.id }, result.kind === 'failed' ? result.detail : undefined)
    return result
  }
}

/** The calls of `find` that wait for a job. */
function createSearches(clock: Pick<Clock, 'after'>, get: (key: string) => Job | undefined) {
  const searches = new Set<(key: string) => void>()
  return {
    /** Lets waiting calls of `find` check again, after a record with this key was read. */
    wake(key: string): void {
      for (const search of searches) search(key)
    },
    find(key: string): Promise<Job | undefined> {
      const known = get(key)
      if (known !== undefined) return Promise.resolve(known)
      return new Promise(resolve => {
        const end = (): void => {
          cancel()
          searches.delete(search)
          resolve(get(key))
        }
        const search = (read: string): void => {
          if (read === key) end()
        }
        const cancel = clock.after(findTimeout, end)
        searches.add(search)
      })
    },
  }
}

interface CopyDeps extends Omit<Deps, 'follower'> {
  readonly copies: () => readonly Job[]
}

/** After an ignored record, writes a copy of the job's current version (see `copyAfter`). */
function createCopies({ copies, producer, topic, clock, logger }: CopyDeps) {
  let cancel: Cancel | undefined
  let isStopped = false

  function soon(): void {
    if (!isStopped) cancel ??= clock.after(copyAfter, write)
  }

  function write(): void {
    cancel = undefined
    for (const copy of copies()) {
      producer.append(topic, recordOf(copy), error => {
        if (error === undefined) return
        logger.warn(
          { topic, error: error.message },
          'hookline could not write the state of a job (a replay or a resend) to the jobs topic (see "error"); the job continues, and hookline tries again every few seconds; if this line repeats, the state of the job may be lost: check Kafka',
        )
        soon()
      })
    }
  }

  return {
    soon,
    stop() {
      isStopped = true
      cancel?.()
    },
  }
}

const recordOf = (job: Job) => ({
  key: Buffer.from(jobKeyOf(job)),
  value: Buffer.from(encodeJob(job)),
  headers: {},
  partition: jobsPartition,
})
