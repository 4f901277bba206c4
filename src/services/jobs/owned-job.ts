import { type Job, type JobWork, jobKeyOf } from '../../core/jobs/job.ts'
import {
  advanced,
  checkpointEvery,
  ended,
  type NextRecord,
  ownerLease,
  ownershipOf,
  released,
} from '../../core/jobs/job-transitions.ts'
import type { Cancel, Clock, Logger, LogProducer } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import { createLoggedWrite, type JobStore, type WriteResult } from './job-store.ts'

/** Why the work on a job stops before its end. */
export type StopReason =
  | 'cancelled'
  /** Another process has taken over the job. */
  | 'lost'
  /** This process stops. */
  | 'stopping'

const writeAgainAfter = durationMs(500)

interface Deps {
  readonly store: JobStore
  readonly producer: LogProducer
  readonly clock: Clock
  readonly logger: Logger
  /** The id of this process. The records of its jobs name it as the owner. */
  readonly owner: string
}

/**
 * A job that this process runs. The process has the *lease* of the job for 5 s after it has sent a
 * record of the job, if the record has taken effect. Without the lease, the process sends nothing:
 * another process may own the job.
 */
export class OwnedJob {
  readonly key: string
  readonly #deps: Deps
  readonly #loggedWrite: JobStore['write']
  readonly #stop = new AbortController()
  #isStopping = false
  #changed: JobWork = {}
  /** Set if the record with the job's counts was too large. Later records have no counts. */
  #countsError: string | undefined
  /** When the last applied record was sent, in ms of `Clock.boottime`. */
  #confirmedAt: number
  #writing: Promise<void> | undefined
  #cancelTimer: Cancel = () => undefined

  /**
   * @param claimedAt when the record that claims the job was sent, in milliseconds of
   * `Clock.boottime`
   */
  constructor(job: Job, claimedAt: number, deps: Deps) {
    this.key = jobKeyOf(job)
    this.#deps = deps
    this.#loggedWrite = createLoggedWrite(deps.store, deps.logger)
    this.#confirmedAt = claimedAt
    this.#startTimer()
    this.noteChange()
  }

  /** Aborted with a `StopReason` when the work must stop. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** A producer whose records are sent only while this process has the lease of the job. */
  get producer(): LogProducer {
    const { producer } = this.#deps
    return {
      ...producer,
      append: (topic, record, onAck) => producer.append(topic, { ...record, maySend: () => this.#holdsLease() }, onAck),
      flush: () => producer.flush(),
      stop: () => producer.stop(),
    }
  }

  /** Notes progress in memory. The next record of the job contains it. */
  advance(changed: JobWork): void {
    this.#changed = { ...this.#changed, ...changed }
  }

  /**
   * Writes the progress that `advance` has noted. Resolves when the record has taken effect, or
   * when the job must stop.
   */
  async checkpoint(): Promise<void> {
    // A write in progress may lack the latest progress, so wait for it and write again.
    await this.#writing
    await this.#write()
  }

  /**
   * Called when a record of the job was read. The record may cancel the job or change its owner.
   */
  noteChange(): void {
    const ownership = ownershipOf(this.#deps.store.get(this.key), this.#deps.owner)
    if (ownership !== 'owned') this.stop(ownership)
  }

  stop(reason: StopReason): void {
    this.#cancelTimer()
    if (reason === 'stopping') this.#isStopping = true
    this.#stop.abort(reason)
  }

  /**
   * Writes this process's last record of the job; `outcome` is `undefined` if the work was stopped.
   * Resolves with `undefined` if another process continues the job.
   */
  async end(outcome: { readonly error?: string | undefined } | undefined): Promise<Job | undefined> {
    const { store, clock, owner } = this.#deps
    this.#cancelTimer()
    await this.#writing
    for (;;) {
      const known = store.get(this.key)
      const ownership = ownershipOf(known, owner)
      if (known === undefined || ownership === 'lost') return undefined
      const result = outcome && { error: outcome.error ?? this.#countsError }
      const step =
        outcome === undefined && ownership === 'owned'
          ? released(this.#changed)
          : ended(stateOf(result), clock.now(), { ...this.#changed, error: result?.error })
      const written = await this.#writeRecord(known, step)
      if (written.kind === 'applied') return written.job
      // A stopping process does not repeat the write: another process takes over the job.
      if (written.kind === 'failed' && this.#isStopping) return undefined
      if (written.kind === 'failed') await sleep(clock, writeAgainAfter)
    }
  }

  async #writeRecord(job: Job, nextRecord: NextRecord): Promise<WriteResult> {
    const result = await this.#loggedWrite(job, nextRecord)
    if (result.kind === 'failed' && result.isTooLarge === true) {
      this.#countsError = `the job finished its work, but its field "counts" (numbers of dead letters by destination and reason) is missing, because the record of the job was too large for the jobs topic: ${result.detail}`
      this.advance({ counts: undefined })
    }
    return result
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeUntilInForce().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  async #writeUntilInForce(): Promise<void> {
    const { store, clock } = this.#deps
    while (!this.signal.aborted) {
      const known = store.get(this.key)
      if (known === undefined) return this.stop('lost')
      const sentAt = clock.boottime()
      const result = await this.#writeRecord(known, advanced(this.#changed))
      if (result.kind === 'applied') {
        this.#confirmedAt = sentAt
        return
      }
      this.noteChange()
      if (result.kind === 'failed') await sleep(clock, writeAgainAfter, this.signal)
    }
  }

  #holdsLease(): boolean {
    return this.signal.reason !== 'lost' && this.#deps.clock.boottime() - this.#confirmedAt < ownerLease
  }

  #startTimer(): void {
    this.#cancelTimer = this.#deps.clock.after(checkpointEvery, () => {
      if (this.signal.aborted) return
      void this.#write().then(() => {
        if (!this.signal.aborted) this.#startTimer()
      })
    })
  }
}

const stateOf = (outcome: { readonly error?: string | undefined } | undefined): 'done' | 'failed' | 'cancelled' => {
  if (outcome === undefined) return 'cancelled'
  return outcome.error === undefined ? 'done' : 'failed'
}
