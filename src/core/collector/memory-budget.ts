/** Bytes that may be held at once. */
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
   * False when that much is not to be had. What is larger than the whole budget gets it when nothing else is held. `own`: bytes
   * that the caller has taken already.
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
