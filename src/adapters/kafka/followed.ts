/** How far one partition is read, and until when that was all that there is. Times in monotonic milliseconds. */
export class FollowedPartition {
  readonly partition: number
  position: number
  /** All that was acknowledged before is read. */
  asOf = Number.NEGATIVE_INFINITY
  /** The end that an earlier fetch found; while more comes faster than it is read, that one is reached all the same. */
  #goal: { readonly end: number; readonly at: number } | undefined

  constructor(partition: number, position: number) {
    this.partition = partition
    this.position = position
  }

  /** A fetch that was begun `at` brought everything up to `next`; the log ended at `end`, or later by now. */
  took(next: number, end: number, at: number): void {
    this.position = next
    this.#goal ??= { end, at }
    if (next < this.#goal.end) return
    this.asOf = next >= end ? at : this.#goal.at
    this.#goal = next >= end ? undefined : { end, at }
  }

  /** It goes on elsewhere: what the log holds there is not known. */
  moveTo(position: number): void {
    this.position = position
    this.#goal = undefined
  }
}
