/**
 * Limits how many operations run concurrently. `acquire` waits until fewer than `max` are in
 * progress.
 */
export class Semaphore {
  readonly #max: number
  #count = 0
  #wake: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /**
   * Resolves when the operation may begin. The caller must call `release` when the operation has
   * ended.
   */
  async acquire(): Promise<void> {
    while (this.#count >= this.#max) await this.#nextRelease()
    this.#count++
  }

  release(): void {
    this.#count--
    const waiting = this.#wake
    this.#wake = []
    for (const wake of waiting) wake()
  }

  /** Resolves when no operation is in progress. */
  async drained(): Promise<void> {
    while (this.#count > 0) await this.#nextRelease()
  }

  #nextRelease(): Promise<void> {
    return new Promise(resolve => this.#wake.push(resolve))
  }
}
