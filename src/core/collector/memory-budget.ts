/** A memory budget that several callers share. It limits the sum of the bytes that they take. */
export class MemoryBudget {
  readonly #limit: number
  #held = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get held(): number {
    return this.#held
  }

  /**
   * Takes `bytes`, or returns false at the limit. While no other caller holds memory, the caller
   * may exceed the limit, so that a very large request can proceed. `own`: bytes that the caller
   * already holds.
   */
  take(bytes: number, own = 0): boolean {
    if (this.#held > own && this.#held + bytes > this.#limit) return false
    this.#held += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#held -= bytes
  }
}
