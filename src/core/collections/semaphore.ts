/**
 * Limits how many operations run concurrently. Callers that wait continue in the order of their
 * calls.
 */
export class Semaphore {
  readonly #max: number
  #count = 0
  readonly #waiting: (() => void)[] = []
  readonly #onDrained: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /**
   * Resolves when the operation may begin. The caller must then call `release` when the operation
   * has ended.
   */
  async acquire(): Promise<void> {
    if (this.#count >= this.#max) return new Promise(resolve => this.#waiting.push(resolve))
    this.#count++
  }

  release(): void {
    const next = this.#waiting.shift()
    // The next operation takes the place of the ended one, so the count stays the same.
    if (next !== undefined) return next()
    this.#count--
    if (this.#count > 0) return
    for (const wake of this.#onDrained.splice(0)) wake()
  }

  /** Resolves when no operation is in progress. */
  async drained(): Promise<void> {
    while (this.#count > 0) await new Promise<void>(resolve => this.#onDrained.push(resolve))
  }
}
