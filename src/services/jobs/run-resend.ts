import { firstOrigin } from '../../core/delivery/replay-decision.ts'
import type { RetryPolicy } from '../../core/delivery/retry-tier.ts'
import { mayHaveUnknownSources, type Routing } from '../../core/delivery/route.ts'
import type { ResendJob } from '../../core/jobs/job.ts'
import { defaultResendRate } from '../../core/jobs/max-and-default-job-rates.ts'
import { isCopyOfRead, type Resend, type ResendContext, resendOf, routingOf } from '../../core/jobs/resend-decision.ts'
import type { Clock, EventCodec, Logger, LogRecord, TopicReader } from '../../core/ports.ts'
import { createYield, sleep } from '../../core/sleep-and-yield.ts'
import type { TopicNames } from '../../core/topics.ts'
import { decodeWithSchemaFetch } from '../decode-with-schema-fetch.ts'
import { createPacer, type Pacer } from '../pacer.ts'
import { checkAgainAfter, maxConfigurationWait } from './configuration-wait-limits.ts'
import type { OwnedJob } from './owned-job.ts'
import { type JobOutcome, tryUntilDone } from './try-until-done.ts'
import { ResendBatch } from './write-resend-copies-until-stored.ts'

/** Maximum time, in ms, between two writes of the job's position to the jobs topic. */
const batchMs = 1_000
/**
 * Maximum events per second that all jobs of a process read without sending them, to leave CPU time
 * for other work.
 */
const maxSkippedPerSecond = 20_000
const bytesPerCount = 1_024

/** Creates the pacer of events that are read without being sent. */
export const createSkipPacer = (clock: Clock): Pacer => createPacer(clock, maxSkippedPerSecond)

export interface RunResendDeps {
  readonly reader: TopicReader
  readonly clock: Clock
  readonly logger: Logger
  readonly codec: EventCodec
  readonly topics: TopicNames
  readonly policy: Pick<RetryPolicy, 'window' | 'tiers'>
  /** Returns the current configuration, which may change while the job runs. */
  readonly routing: () => Routing
  readonly isStopped: ResendContext['isStopped']
  /** Shared by all jobs of the process (see `createSkipPacer`). */
  readonly pacedSkip: Pacer
}

/**
 * Appends a copy of each selected event for the job's destination. A process that continues the job
 * repeats at most 256 copies.
 */
export async function runResend(deps: RunResendDeps, given: ResendJob, owned: OwnedJob): Promise<JobOutcome> {
  const resend = new ResendRun(deps, given, owned)
  async function run(): Promise<JobOutcome> {
    const refusal = await resend.readAllWithin(maxConfigurationWait)
    if (owned.signal.aborted) return undefined
    return refusal === undefined ? {} : { error: refusal }
  }
  return tryUntilDone({ run, progress: () => resend.read }, owned, deps.clock)
}

class ResendRun {
  readonly #deps: RunResendDeps
  readonly #job: ResendJob
  readonly #owned: OwnedJob
  readonly #pacedSend: () => Promise<void>
  readonly #yieldToOthers: () => Promise<void> | undefined
  readonly #batch: ResendBatch
  /**
   * Next offsets and counts in the job's last record. Kafka has stored the copies of all selected
   * events before these offsets.
   */
  #next: number[]
  #progress: ResendJob['progress']
  /** Next offsets and counts including the current batch, which Kafka may not have stored yet. */
  #position: number[]
  #counts: Pick<ResendJob['progress'], 'tooLarge'> & { read: number; sent: number; skipped: number }
  /**
   * By partition: the offset from which the job has read all events, without a later gap. The job
   * skips a replay's copy of one of these events, because it has already read the original.
   */
  readonly #readFrom: number[]
  /** By partition: the first offset after records that retention removed before they were read. */
  readonly #firstOffsetAfterGap: Map<number, number>
  #batchEndsAt = 0
  #known: { readonly routing: Routing; readonly context: Omit<ResendContext, 'now'> | undefined } | undefined

  constructor(deps: RunResendDeps, job: ResendJob, owned: OwnedJob) {
    this.#deps = deps
    this.#job = job
    this.#owned = owned
    this.#pacedSend = createPacer(deps.clock, job.rate ?? defaultResendRate, owned.signal)
    this.#yieldToOthers = createYield(deps.clock)
    this.#batch = new ResendBatch(job, owned, deps)
    this.#next = [...job.next]
    this.#progress = job.progress
    this.#position = [...job.next]
    this.#counts = { ...job.progress }
    this.#readFrom = [...(job.readFrom ?? job.next)]
    this.#firstOffsetAfterGap = new Map(job.missing?.map(({ partition, firstOffset }) => [partition, firstOffset]))
  }

  /** Number of events that the job has read, as stored in the jobs topic. */
  get read(): number {
    return this.#progress.read
  }

  /**
   * Calls `readAll` until everything is read or the job must stop, or until nothing was read for
   * `limit` ms. Resolves with the last result.
   */
  async readAllWithin(limit: number): Promise<string | undefined> {
    const { clock } = this.#deps
    const { signal } = this.#owned
    let [before, since] = [this.read, clock.monotonic()]
    for (;;) {
      const refusal = await this.readAll()
      if (this.read > before) [before, since] = [this.read, clock.monotonic()]
      if (refusal === undefined || signal.aborted || clock.monotonic() - since >= limit) return refusal
      await sleep(clock, checkAgainAfter, signal)
    }
  }

  /**
   * Reads from the recorded position to the end of the range. Resolves with a reason if the
   * destination is unknown or disabled. Rejects during an outage, for example of Kafka.
   */
  async readAll(): Promise<string | undefined> {
    const { reader, topics, clock } = this.#deps
    const { signal } = this.#owned
    this.#position = [...this.#next]
    this.#counts = { ...this.#progress }
    let refusal: string | undefined
    const mustStop = (): boolean => signal.aborted || refusal !== undefined
    this.#batchEndsAt = clock.monotonic() + batchMs
    const take = async (record: LogRecord): Promise<void> => {
      refusal = await this.#take(record)
    }
    const onRemoved = (partition: number, firstOffset: number): void => {
      this.#position[partition] = firstOffset
      this.#readFrom[partition] = firstOffset
      this.#firstOffsetAfterGap.set(partition, firstOffset)
    }
    try {
      await reader.readToEnd(topics.events, take, { from: this.#next, to: this.#job.ends, mustStop, onRemoved })
    } finally {
      await this.#endBatch()
    }
    return refusal
  }

  async #take(record: LogRecord): Promise<string | undefined> {
    await this.#yieldToOthers()
    const context = this.#context()
    if (context === undefined) return this.#refusalReason()
    const { partition, offset, value } = record
    const resend = await this.#decide(record, context)
    const sent = this.#job.isDryRun === true || resend.kind === 'skip' ? undefined : resend
    if (sent === undefined) await this.#deps.pacedSkip(Math.max(1, (value?.length ?? 0) / bytesPerCount))
    else await this.#pacedSend()
    // If the job must stop, the record does not count as read, so the next process reads it again.
    if (this.#owned.signal.aborted) return undefined
    if (sent !== undefined) this.#batch.add(record, sent.topic, sent.copy)
    this.#counts.read++
    if (resend.kind === 'copy') this.#counts.sent++
    else this.#counts.skipped++
    this.#position[partition] = offset + 1
    if (this.#batch.isFull || this.#deps.clock.monotonic() >= this.#batchEndsAt) await this.#endBatch()
    return undefined
  }

  /**
   * Waits until Kafka has stored the copies of the batch, and then stores the position after them.
   */
  async #endBatch(): Promise<void> {
    const { clock } = this.#deps
    const hadCopies = this.#batch.size > 0
    const refused = await this.#batch.stored()
    if (refused === undefined) return
    this.#counts.sent -= refused
    if (refused > 0) this.#counts.tooLarge = (this.#counts.tooLarge ?? 0) + refused
    const passed = this.#counts.read > this.#progress.read ? { error: undefined } : {}
    this.#next = [...this.#position]
    this.#progress = { ...this.#progress, ...this.#counts }
    const missing = [...this.#firstOffsetAfterGap].map(([partition, firstOffset]) => ({ partition, firstOffset }))
    this.#owned.advance({
      ...{ next: this.#next, readFrom: [...this.#readFrom], progress: this.#progress },
      ...(missing.length > 0 && { missing }),
      ...passed,
    })
    if (hadCopies) await this.#owned.checkpoint()
    this.#batchEndsAt = clock.monotonic() + batchMs
  }

  async #decide(record: LogRecord, context: Omit<ResendContext, 'now'>): Promise<Resend> {
    const { codec, clock } = this.#deps
    const { value } = record
    if (isCopyOfRead(record, this.#readFrom)) return { kind: 'skip', reason: 'copy' }
    if (value === null) return { kind: 'skip', reason: 'invalid_message' }
    const at = firstOrigin(record).timestamp
    const decoded = await decodeWithSchemaFetch(codec, () => codec.decode(value, at))
    if (decoded.kind !== 'event') return { kind: 'skip', reason: 'invalid_message' }
    return resendOf(record, decoded.event, this.#job, { ...context, now: clock.now() })
  }

  /** `undefined` when the destination is unknown or disabled, or its sources cannot be read. */
  #context(): Omit<ResendContext, 'now'> | undefined {
    const routing = this.#deps.routing()
    if (this.#known?.routing !== routing) {
      const destination = routing.destinations.get(this.#job.destination)
      const context =
        destination?.enabled === true && !mayHaveUnknownSources(destination.id, routing)
          ? { ...this.#deps, destination, routing: routingOf(destination, routing) }
          : undefined
      this.#known = { routing, context }
    }
    return this.#known.context
  }

  /**
   * Returns why the job cannot continue.
   * @throws an error with a code when the destination may be in a file that cannot be read
   */
  #refusalReason(): string {
    const { destination } = this.#job
    const routing = this.#deps.routing()
    if (mayHaveUnknownSources(destination, routing)) {
      const message = `hookline cannot read the configuration of destination ${destination} (see the log): correct this configuration, or cancel this resend`
      throw Object.assign(new Error(message), { code: 'destination_file_unreadable' })
    }
    return `destination ${destination} is ${routing.destinations.has(destination) ? 'disabled: enable it, then create the resend again' : 'not in the configuration: configure it, then create the resend again'}`
  }
}
