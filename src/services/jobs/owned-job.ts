import { type Job, type JobWork, jobKeyOf } from '../../core/jobs/job.ts'
import { advanced, checkpointEvery, ended, ownerLease, ownershipOf, released } from '../../core/jobs/job-steps.ts'
import { pause } from '../../core/pause.ts'
import type { Cancel, Clock, LogProducer } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import type { JobStore } from './job-store.ts'

/** Why the work on a job stops before its end. */
export type StopReason =
  /** A request asked for it. */
  | 'cancelled'
  /** Another process has taken over the job. */
  | 'lost'
  /** This process stops. */
  | 'stopping'

/** The time until a failed write of a record is repeated. */
const writeAgainAfter = durationMs(500)

interface Deps {
  readonly store: JobStore
  readonly producer: LogProducer
  readonly clock: Clock
  /** Identifies this process. */
  readonly owner: string
}

/**
 * A job that this process runs. It writes a progress record at least every second. The process holds
 * the lease of the job while these records are accepted. The producer sends copies only with the
 * lease, so a process that was suspended sends none when another process may have taken over.
 */
export class OwnedJob {
  readonly key: string
  readonly #deps: Deps
  readonly #stop = new AbortController()
  #changed: JobWork = {}
  /** The boot time at which the last record that counts was sent. */
  #confirmedAt: number
  #writing: Promise<void> | undefined
  #cancelTimer: Cancel = () => undefined

  /** @param claimedAt the boot time at which the record was sent that started the job here */
  constructor(job: Job, claimedAt: number, deps: Deps) {
    this.key = jobKeyOf(job)
    this.#deps = deps
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

  /** Notes progress; the next record has it. */
  advance(changed: JobWork): void {
    this.#changed = { ...this.#changed, ...changed }
  }

  /** Resolves when a record with the noted progress counts, or the job must stop. */
  async checkpoint(): Promise<void> {
    // A write in progress may not have the latest progress.
    await this.#writing
    await this.#write()
  }

  /** Called when another record of the job was read. */
  noteChange(): void {
    const ownership = ownershipOf(this.#deps.store.get(this.key), this.#deps.owner)
    if (ownership !== 'owned') this.stop(ownership)
  }

  stop(reason: StopReason): void {
    this.#cancelTimer()
    this.#stop.abort(reason)
  }

  /**
   * Writes the last record of this process. `outcome` is the result of the work; `undefined` when it
   * was stopped. Resolves with the job, if this process still had it.
   */
  async end(outcome: { readonly error?: string | undefined } | undefined): Promise<Job | undefined> {
    const { store, clock, owner } = this.#deps
    this.#cancelTimer()
    await this.#writing
    for (;;) {
      const known = store.get(this.key)
      const ownership = ownershipOf(known, owner)
      if (known === undefined || ownership === 'lost') return undefined
      const error = outcome?.error
      const step =
        outcome === undefined && ownership === 'owned'
          ? released(this.#changed)
          : ended(stateOf(outcome), clock.now(), { ...this.#changed, ...(error !== undefined && { error }) })
      const result = await store.write(known, step)
      if (result.kind === 'applied') return result.job
      // When the process stops, another process takes over the job after some seconds.
      if (result.kind === 'failed' && this.signal.reason === 'stopping') return undefined
      if (result.kind === 'failed') await pause(clock, writeAgainAfter)
    }
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
      const result = await store.write(known, advanced(this.#changed))
      if (result.kind === 'applied') {
        this.#confirmedAt = sentAt
        return
      }
      this.noteChange()
      if (result.kind === 'failed') await pause(clock, writeAgainAfter, this.signal)
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
