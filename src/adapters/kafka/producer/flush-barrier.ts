/**
 * Lets a flush wait only for the records that were added before it. Each record belongs to the
 * epoch in which it was added (a number of this class, not an epoch of Kafka). A flush ends the
 * current epoch. It waits until all records of that epoch and of earlier ones are acknowledged or
 * have failed.
 */
export class FlushBarrier {
  #epoch = 0
  /**
   * The number of unacknowledged records of each epoch. Epochs without unacknowledged records have
   * no entry.
   */
  readonly #inProgress = new Map<number, number>()
  #waiting: { readonly epoch: number; readonly resolve: () => void }[] = []

  /** Adds a record. Returns the current epoch, which the caller passes to `done` later. */
  add(): number {
    this.#inProgress.set(this.#epoch, (this.#inProgress.get(this.#epoch) ?? 0) + 1)
    return this.#epoch
  }

  /**
   * Call it when a record is acknowledged or has failed. `epoch` is the result of `add` for this
   * record.
   */
  done(epoch: number): void {
    const remaining = (this.#inProgress.get(epoch) ?? 0) - 1
    if (remaining > 0) this.#inProgress.set(epoch, remaining)
    else if (this.#inProgress.delete(epoch)) this.#wake()
  }

  /** Resolves when all records added before this call are done. */
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
