import type { Clock } from '../../../core/ports.ts'
import { type DurationMs, durationMs } from '../../../core/time.ts'

/** The requests whose responses prove that the brokers still serve this member. */
const proofsOfContact: ReadonlySet<string> = new Set(['Fetch', 'Heartbeat', 'SyncGroup'])

/** Measures the time since the last contact with a broker and the last attempt at contact. */
export class BrokerContact {
  readonly #clock: Pick<Clock, 'monotonic'>
  #lastContactAt: number
  #lastAttemptAt: number

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
    this.#lastContactAt = clock.monotonic()
    this.#lastAttemptAt = this.#lastContactAt
  }

  recordAnswer(apiName: string): void {
    if (proofsOfContact.has(apiName)) this.#lastContactAt = this.#clock.monotonic()
    this.recordAttempt()
  }

  /**
   * Records an attempt at contact. Call it when a connection is opened, and when a request ends,
   * even with an error.
   */
  recordAttempt(): void {
    this.#lastAttemptAt = this.#clock.monotonic()
  }

  msSinceLastContact(): DurationMs {
    return durationMs(Math.floor(this.#clock.monotonic() - this.#lastContactAt))
  }

  msSinceLastAttempt(): DurationMs {
    return durationMs(Math.floor(this.#clock.monotonic() - this.#lastAttemptAt))
  }
}
