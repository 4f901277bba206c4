import type { Clock, OutgoingRecord } from '../../core/ports.ts'
import { sleep } from '../../core/sleep.ts'
import { durationMs } from '../../core/time.ts'
import { isTooLarge } from '../is-too-large.ts'
import type { OwnedJob } from './owned-job.ts'

/**
 * Maximum number of events that a resend copies between two writes of its position to the jobs
 * topic.
 */
export const maxBatch = 256
const tryAgainAfter = durationMs(1_000)

type Result = 'stored' | 'refused' | 'stopped'

/**
 * The copies of events that a resend has sent since it last wrote its progress to the jobs topic.
 */
export class ResendBatch {
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
   * Waits until Kafka has acknowledged all copies, and empties the batch. Resolves with the number
   * of copies that the topic refused because they are too large. Resolves with `undefined` when the
   * job stopped before Kafka had stored all other copies.
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
      if (isTooLarge(error)) return 'refused'
      if (signal.aborted) return 'stopped'
      await sleep(this.#clock, tryAgainAfter, signal)
      if (signal.aborted) return 'stopped'
    }
  }
}
