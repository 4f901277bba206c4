/**
 * Limits how many operations run concurrently. `begin` waits until fewer than `max` are in
 * progress.
 */
export class ConcurrencyGate {
  readonly #max: number
  #count = 0
  #wake: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /**
   * Resolves when the operation may begin. The caller must call `ended` when the operation has
   * ended.
   */
  async begin(): Promise<void> {
    while (this.#count >= this.#max) await this.#nextEnd()
    this.#count++
  }

  ended(): void {
    this.#count--
    const waiting = this.#wake
    this.#wake = []
    for (const wake of waiting) wake()
  }

  /** Resolves when no operation is in progress. */
  async drained(): Promise<void> {
    while (this.#count > 0) await this.#nextEnd()
  }

  #nextEnd(): Promise<void> {
    return new Promise(resolve => this.#wake.push(resolve))
  }
}
