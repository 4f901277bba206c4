/**
 * Lets a flush wait for the records that were added before it, and for no later ones. It counts the
 * unacknowledged records by epoch; each flush begins a new epoch.
 */
export class FlushBarrier {
  #epoch = 0
  /** The number of unacknowledged records by epoch. An epoch without any has no entry. */
  readonly #inProgress = new Map<number, number>()
  #waiting: { readonly epoch: number; readonly resolve: () => void }[] = []

  /** Adds a record. Returns its epoch, which the caller passes to `done`. */
  add(): number {
    this.#inProgress.set(this.#epoch, (this.#inProgress.get(this.#epoch) ?? 0) + 1)
    return this.#epoch
  }

  /** Removes a record that is acknowledged or has failed. */
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
