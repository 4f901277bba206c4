import { conflicts, hasEnded, type Job, jobKeyOf } from './job.ts'

/*
 * The rules by which every process computes the jobs from the jobs topic.
 *
 * Kafka has no conditional write, so two processes may write the same version of a job. Every
 * process applies only the first record of a version. So at most one process takes over a job.
 * - A record is applied if its version is the current version plus 1, and the job has not ended.
 * - A record that starts a job is applied only while no conflicting job runs.
 * - The first record of a job is applied if its version is 1. Until a process has read the whole
 *   topic, it applies a first record of any version: compaction may have removed earlier records.
 *
 * Other records are ignored. If an ignored record is the last record of its job, compaction keeps
 * only this record. So a process then writes a copy of the job's current version.
 */

export type ApplyResult =
  /** The record is now the current version of the job. */
  | 'applied'
  /** The record repeats the current version: it is a copy, or a producer wrote the record twice. */
  | 'repeated'
  /**
   * The record is a copy that replaces the job in this process. Compaction had removed records, so
   * this process had applied a record that other processes had ignored.
   */
  | 'restored'
  | 'ignored'

/** Maximum number of ended jobs that a process keeps in memory. */
const maxEnded = 1_000
/**
 * Time in ms for which the operator API lists an ended job. The retention of the jobs topic is the
 * same.
 */
const keptMs = 30 * 24 * 3_600_000

/** Computes the jobs from the records of the jobs topic, in offset order. */
export class JobLog {
  readonly #jobs = new Map<string, Job>()
  readonly #ended = new Map<string, Job>()
  readonly #needCopy = new Set<string>()
  #isRead = false

  /** Applies the next record of the jobs topic. */
  apply(job: Job): ApplyResult {
    const key = jobKeyOf(job)
    const result = this.#judge(this.get(key), job)
    switch (result) {
      case 'applied':
      case 'restored':
        this.#keep(key, job)
        break
      case 'repeated':
        // The copy number is stored, because the next copy of this version needs a higher number.
        if (job.copy > this.get(key)!.copy) this.#keep(key, job)
        break
      case 'ignored':
        this.requestCopy(key)
        return result
    }
    if (job.copy > 0) this.#needCopy.delete(key)
    return result
  }

  /**
   * Notes that the job needs a copy of its current version: its last record in the topic is
   * ignored, and compaction keeps only the last record.
   */
  requestCopy(key: string): void {
    if (this.get(key) !== undefined) this.#needCopy.add(key)
  }

  markRead(): void {
    this.#isRead = true
  }

  get(key: string): Job | undefined {
    return this.#jobs.get(key) ?? this.#ended.get(key)
  }

  /** The jobs that have not ended. */
  get open(): Iterable<Job> & { readonly size: number } {
    return { size: this.#jobs.size, [Symbol.iterator]: () => this.#jobs.values() }
  }

  /** The newest ended jobs, at most 1,000, in the order in which they ended. */
  ended(now: number): readonly Job[] {
    return [...this.#ended.values()].filter(({ endedAt = 0 }) => endedAt > now - keptMs)
  }

  /**
   * Copies of the jobs whose last record in the topic is ignored. The caller must write them to the
   * topic.
   */
  copies(): readonly Job[] {
    return [...this.#needCopy].flatMap(key => {
      const job = this.get(key)
      return job === undefined ? [] : [{ ...job, copy: job.copy + 1 }]
    })
  }

  #judge(known: Job | undefined, job: Job): ApplyResult {
    if (known === undefined) return job.version === 1 || !this.#isRead ? 'applied' : 'ignored'
    const { version, writeId, copy } = known
    if (job.version === version && job.writeId === writeId) return 'repeated'
    if (job.copy > 0) {
      const isLater = job.version > version || (job.version === version && job.copy > copy)
      return isLater ? 'restored' : 'ignored'
    }
    if (job.version !== version + 1 || hasEnded(known)) return 'ignored'
    return this.#isRefusedStart(known, job) ? 'ignored' : 'applied'
  }

  #isRefusedStart(known: Job, job: Job): boolean {
    if (job.state !== 'running' || known.state === 'running') return false
    return [...this.#jobs.values()].some(other => other.state === 'running' && conflicts(other, job))
  }

  #keep(key: string, job: Job): void {
    if (!hasEnded(job)) {
      this.#jobs.set(key, job)
      this.#ended.delete(key)
      return
    }
    this.#jobs.delete(key)
    this.#ended.set(key, job)
    const [oldest] = this.#ended.keys()
    if (this.#ended.size <= maxEnded || oldest === undefined) return
    this.#ended.delete(oldest)
    this.#needCopy.delete(oldest)
  }
}
