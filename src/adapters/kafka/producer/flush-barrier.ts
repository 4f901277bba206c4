/**
 * Lets a flush wait only for the records that were added before it. The records between two flushes
 * are an epoch (not an epoch of Kafka).
 */
export class FlushBarrier {
  #epoch = 0
  /** The number of unacknowledged records by epoch. Each number is at least 1. */
  readonly #inProgress = new Map<number, number>()
  #waiting: { readonly epoch: number; readonly resolve: () => void }[] = []

  /** Adds a record. Returns the epoch that must be passed to `done`. */
  add(): number {
    this.#inProgress.set(this.#epoch, (this.#inProgress.get(this.#epoch) ?? 0) + 1)
    return this.#epoch
  }

  /** Call it when a record is acknowledged or has failed. `epoch` is the result of `add`. */
  done(epoch: number): void {
    const remaining = (this.#inProgress.get(epoch) ?? 0) - 1
    if (remaining > 0) this.#inProgress.set(epoch, remaining)
    else if (this.#inProgress.delete(epoch)) this.#wake()
  }

  drained(): Promise<void> {
    const epoch = this.#epoch++
    return new Promise(resolve => {
      this.#waiting.push({ epoch, resolve })
      this.#wake()
    })
  }

  #wake(): void {
    const oldest = Math.min(...this.#inProgress.keys())
    const due = this.#waiting.filter(({ epoch }) => epoch < oldest)
    this.#waiting = this.#waiting.filter(({ epoch }) => epoch >= oldest)
    for (const { resolve } of due) resolve()
  }
}
