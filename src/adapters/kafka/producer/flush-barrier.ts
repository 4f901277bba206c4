/**
 * Counts the records in progress, so that a flush can wait for those added before it, whatever is
 * added afterwards. Each flush begins a new epoch.
 */
export class FlushBarrier {
  #epoch = 0
  /** Records in progress of each epoch; epochs without any are not listed. */
  readonly #inProgress = new Map<number, number>()
  #waiting: { readonly epoch: number; readonly resolve: () => void }[] = []

  /** Adds a record. Returns its epoch, to be passed to `done`. */
  add(): number {
    this.#inProgress.set(this.#epoch, (this.#inProgress.get(this.#epoch) ?? 0) + 1)
    return this.#epoch
  }

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
