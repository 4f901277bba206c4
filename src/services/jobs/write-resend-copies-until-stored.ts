import type { ResendJob } from '../../core/jobs/job.ts'
import { createFirstFailureLog } from '../../core/logging/first-failure-log.ts'
import type { Clock, Logger, LogRecord, OutgoingRecord } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import { isTooLarge } from '../is-record-too-large.ts'
import type { OwnedJob } from './owned-job.ts'

/** Maximum number of copies until a resend writes its position to the jobs topic again. */
export const maxBatch = 256
const tryAgainAfter = durationMs(1_000)

/**
 * Whether the producer withdrew a record, because this process did not have the lease of the job.
 */
const isWithdrawn = (error: Error): boolean => 'code' in error && error.code === 'HELD_BACK'

const notStored =
  'hookline could not write events of a resend to the retry topic (see "error"), so the resend waits; hookline tries again every second; check Kafka, and the rights of the operator service on the topic'

const neverStored =
  'the resend does not send events that are too large for the retry topic: raise max.message.bytes of the retry topics, then create the resend again; "topic", "partition" and "offset" name the first of these events; progress.tooLarge of the job counts them'

interface Deps {
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
}

type Result = 'stored' | 'refused' | 'stopped'

/** The copies of events that a resend has sent since its last progress record. */
export class ResendBatch {
  readonly #job: Pick<ResendJob, 'kind' | 'id'>
  readonly #owned: OwnedJob
  readonly #clock: Clock
  readonly #logger: Deps['logger']
  readonly #noteFailure: ReturnType<typeof createFirstFailureLog>
  #copies: Promise<Result>[] = []
  #refused = 0

  constructor(job: Pick<ResendJob, 'kind' | 'id'>, owned: OwnedJob, { clock, logger }: Deps) {
    this.#job = job
    this.#owned = owned
    this.#clock = clock
    this.#logger = logger
    this.#noteFailure = createFirstFailureLog(logger, notStored)
  }

  get size(): number {
    return this.#copies.length
  }

  get isFull(): boolean {
    return this.#copies.length >= maxBatch
  }

  add(event: LogRecord, topic: string, copy: OutgoingRecord): void {
    this.#copies.push(this.#store(event, topic, copy))
  }

  /**
   * Waits until Kafka has acknowledged all copies. Resolves with the number of copies that were too
   * large, or `undefined` if the job stopped.
   */
  async stored(): Promise<number | undefined> {
    const results = await Promise.all(this.#copies)
    this.#copies = []
    if (results.includes('stopped')) return undefined
    this.#noteFailure({}, undefined)
    return results.filter(result => result === 'refused').length
  }

  async #store(event: LogRecord, topic: string, copy: OutgoingRecord): Promise<Result> {
    const { producer, signal } = this.#owned
    const { kind, id } = this.#job
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<Error | undefined>()
      producer.append(topic, copy, resolve)
      const error = await promise
      if (error === undefined) return 'stored'
      if (isTooLarge(error)) {
        const { topic, partition, offset } = event
        if (this.#refused++ === 0) this.#logger.warn({ kind, id, topic, partition, offset }, neverStored)
        return 'refused'
      }
      if (signal.aborted) return 'stopped'
      if (!isWithdrawn(error)) {
        this.#noteFailure({ kind, id, topic }, error.message)
        this.#owned.advance({ error: error.message })
      }
      await sleep(this.#clock, tryAgainAfter, signal)
      if (signal.aborted) return 'stopped'
    }
  }
}
