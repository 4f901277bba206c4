/** Time lost is made up for only as far as this: after a halt no flood may follow. */
const longestMakeUpMs = 100

/** So many turns a second, evenly. Times in milliseconds of one monotonic clock. */
export class EmissionPace {
  #next = Number.NEGATIVE_INFINITY

  /** Takes a turn, or tells how many milliseconds there are until the next one; 0: it is taken. */
  take(now: number, perSecond: number): number {
    const turn = Math.max(this.#next, now - longestMakeUpMs)
    if (turn > now) return turn - now
    this.#next = turn + 1_000 / perSecond
    return 0
  }
}
