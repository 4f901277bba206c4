/** Counts what is under way so that one can wait for all that began before a moment, whatever begins after it. */
export class Rounds {
  #current = 0
  /** How many of each round are under way; rounds of which none is are not listed. */
  readonly #open = new Map<number, number>()
  #waiting: { readonly round: number; readonly resolve: () => void }[] = []

  /** One more begins; give what this returns to `leave`. */
  enter(): number {
    this.#open.set(this.#current, (this.#open.get(this.#current) ?? 0) + 1)
    return this.#current
  }

  leave(round: number): void {
    const left = (this.#open.get(round) ?? 0) - 1
    if (left > 0) this.#open.set(round, left)
    else if (this.#open.delete(round)) this.#wake()
  }

  /** Resolves when all that has begun by now has ended. */
  ended(): Promise<void> {
    const round = this.#current++
    return new Promise(resolve => {
      this.#waiting.push({ round, resolve })
      this.#wake()
    })
  }

  #wake(): void {
    const oldest = Math.min(...this.#open.keys())
    const due = this.#waiting.filter(({ round }) => round < oldest)
    this.#waiting = this.#waiting.filter(({ round }) => round >= oldest)
    for (const { resolve } of due) resolve()
  }
}
