import { type DurationMs, durationMs } from '../time.ts'

/** How much one request may read. */
export interface ReadLimits {
  readonly records: number
  /** The maximum duration of the read, in ms. */
  readonly time: number
}

/**
 * Counts the records that one request reads, and measures the time, so that the request stops at
 * its limits.
 */
export class ReadBudget {
  readonly #limits: ReadLimits
  readonly #monotonic: () => number
  readonly #until: number
  #records = 0

  constructor(limits: ReadLimits, monotonic: () => number) {
    this.#limits = limits
    this.#monotonic = monotonic
    this.#until = monotonic() + limits.time
  }

  count(records: number): void {
    this.#records += records
  }

  get isSpent(): boolean {
    return this.#records >= this.#limits.records || this.#monotonic() >= this.#until
  }

  /** The remaining time in ms; 0 after the time limit. */
  get timeLeft(): DurationMs {
    return durationMs(Math.max(0, this.#until - this.#monotonic()))
  }

  /** Returns a new budget with this fraction (0 to 1) of the remaining records and time. */
  share(fraction: number): ReadBudget {
    const records = Math.max(0, this.#limits.records - this.#records) * fraction
    return new ReadBudget({ records, time: this.timeLeft * fraction }, this.#monotonic)
  }
}
