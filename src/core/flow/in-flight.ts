/** Bounds how many operations are in flight: who begins one waits until fewer than `max` are. */
export class InFlight {
  readonly #max: number
  #count = 0
  #wake: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /** Resolves when one more has begun; `ended` has to follow. First come, first served. */
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

  /** Resolves when none is in flight. */
  async drained(): Promise<void> {
    while (this.#count > 0) await this.#nextEnd()
  }

  #nextEnd(): Promise<void> {
    return new Promise(resolve => this.#wake.push(resolve))
  }
}
