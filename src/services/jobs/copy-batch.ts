import { pause } from '../../core/pause.ts'
import type { Clock, OutgoingRecord } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import type { OwnedJob } from './owned-job.ts'

/** Maximum number of copies of a resend that are sent beyond its recorded position. */
export const maxBatch = 256
const tryAgainAfter = durationMs(1_000)
/** Kafka's error codes for a record that exceeds the maximum size of its topic. */
const tooLarge: ReadonlySet<unknown> = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])

type Result = 'stored' | 'refused' | 'stopped'

/** The copies of a resend that are not recorded as sent yet. */
export class CopyBatch {
  readonly #owned: OwnedJob
  readonly #clock: Clock
  #copies: Promise<Result>[] = []

  constructor(owned: OwnedJob, clock: Clock) {
    this.#owned = owned
    this.#clock = clock
  }

  get size(): number {
    return this.#copies.length
  }

  get isFull(): boolean {
    return this.#copies.length >= maxBatch
  }

  add(topic: string, copy: OutgoingRecord): void {
    this.#copies.push(this.#store(topic, copy))
  }

  /**
   * Empties the batch. Resolves with the number of copies that the topic refuses for their size,
   * when all others are stored; with `undefined` when the job stopped before.
   */
  async stored(): Promise<number | undefined> {
    const results = await Promise.all(this.#copies)
    this.#copies = []
    return results.includes('stopped') ? undefined : results.filter(result => result === 'refused').length
  }

  /** Repeats the append until Kafka stores the copy or the job stops. */
  async #store(topic: string, copy: OutgoingRecord): Promise<Result> {
    const { producer, signal } = this.#owned
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<Error | undefined>()
      producer.append(topic, copy, resolve)
      const error = await promise
      if (error === undefined) return 'stored'
      if ('code' in error && tooLarge.has(error.code)) return 'refused'
      if (signal.aborted) return 'stopped'
      await pause(this.#clock, tryAgainAfter, signal)
      if (signal.aborted) return 'stopped'
    }
  }
}
