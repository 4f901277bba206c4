import { flowLimits } from './limits.ts'

const { handoverMs } = flowLimits.share

interface OwnedPartition {
  /** When the partition was assigned to this process. */
  readonly since: number
  /** Whether this process has to give the partition to another process. */
  isLeaving: boolean
}

/*
 * The partitions of the events topic divide a limit that holds for the whole installation. Each
 * partition has one owner, so the parts of all processes never add up to more than the limit. When
 * a partition moves to another process, its part of a rate and its permits move at different times:
 *
 * Rate: the previous owner keeps the rate of the partition after the revocation, until the next
 * join of the consumer group. All members get the result of this join at nearly the same time. The
 * previous owner then stops using the rate, and the next owner begins 250 ms later.
 *
 * Permits: the previous owner releases the permits when the revocation begins. Requests that it has
 * started may continue for the timeout of a request. The next owner waits for that time.
 *
 * A process without partitions keeps no rate of earlier partitions, because other processes may own
 * them already.
 */

/**
 * Computes which part of the limits of the whole installation this process may use. Times are
 * monotonic milliseconds.
 */
export class PartitionShare {
  #count: number | undefined
  readonly #owned = new Map<number, OwnedPartition>()
  /**
   * Revoked partitions whose rate this process still uses, until the next join of the consumer
   * group.
   */
  readonly #lent = new Set<number>()
  /**
   * Number of partitions that add to the rate of this process: those in `#lent`, and owned ones
   * that were assigned at least `handoverMs` ago.
   */
  #counted = 0
  /**
   * Owned partitions that do not add to the rate yet, because they were assigned less than
   * `handoverMs` ago, in order of assignment.
   */
  #fresh: number[] = []
  /** The result of `secondsUntil` for the time `#advancedTo`, in seconds. */
  #seconds = 0
  #advancedTo: number

  constructor(now: number) {
    this.#advancedTo = now
  }

  setCount(count: number, now: number): void {
    this.#advance(now)
    this.#count = count
  }

  assigned(partition: number, now: number): void {
    this.#advance(now)
    this.#remove(partition)
    this.#owned.set(partition, { since: now, isLeaving: false })
    this.#fresh.push(partition)
  }

  /**
   * Notes that this process has joined the consumer group again, and has to give the partitions in
   * `leaving` to other processes.
   */
  joined(leaving: ReadonlySet<number>, now: number): void {
    this.#advance(now)
    this.#returnLent()
    for (const [partition, owned] of this.#owned) owned.isLeaving = leaving.has(partition)
  }

  revoked(partition: number, now: number): void {
    this.#advance(now)
    const isLent = this.#owned.get(partition)?.isLeaving === true && !this.#fresh.includes(partition)
    this.#remove(partition)
    if (isLent) {
      this.#lent.add(partition)
      this.#counted++
    }
    if (this.#owned.size === 0) this.#returnLent()
  }

  /** Whether this process has no part in any limit. */
  get isNone(): boolean {
    return this.#owned.size === 0
  }

  /** The part of a rate that this process may use now, 0 to 1. */
  rateAt(now: number): number {
    this.#advance(now)
    return this.#rate
  }

  /**
   * The integral of `rateAt` over time, in seconds: for example, a part of 0.5 adds 1 s in 2 s. The
   * increase between two times, multiplied by a rate, is the number of attempts that this process
   * may start between them.
   */
  secondsUntil(now: number): number {
    this.#advance(now)
    return this.#seconds
  }

  /**
   * The number of permits that this process may use, of the `total` permits of the installation.
   * Partition `p` of `n` has the permits `p`, `p + n`, and so on. `rotateBy` shifts them, so that
   * not all destinations with few permits have them in the first partitions. The permits of a
   * partition count from `settleMs` milliseconds after its assignment until this process has to
   * give it to another process. `isPending` is true while permits do not count yet, or the number
   * of partitions is unknown.
   */
  permitsAt(now: number, total: number, rotateBy: number, settleMs: number): { permits: number; isPending: boolean } {
    const count = this.#count
    if (count === undefined) return { permits: 0, isPending: true }
    let permits = 0
    let isPending = false
    for (const [partition, { since, isLeaving }] of this.#owned) {
      const own = Math.floor(total / count) + ((partition + rotateBy) % count < total % count ? 1 : 0)
      if (own === 0 || isLeaving) continue
      if (now - since >= settleMs) permits += own
      else isPending = true
    }
    return { permits, isPending }
  }

  get #rate(): number {
    return this.#count === undefined ? 0 : Math.min(1, this.#counted / this.#count)
  }

  #advance(now: number): void {
    for (let next = this.#fresh[0]; next !== undefined; next = this.#fresh[0]) {
      const from = (this.#owned.get(next)?.since ?? 0) + handoverMs
      if (from > now) break
      this.#integrateTo(from)
      this.#fresh.shift()
      this.#counted++
    }
    this.#integrateTo(now)
  }

  #integrateTo(to: number): void {
    this.#seconds += (this.#rate * Math.max(0, to - this.#advancedTo)) / 1_000
    this.#advancedTo = Math.max(to, this.#advancedTo)
  }

  #remove(partition: number): void {
    const isFresh = this.#fresh.includes(partition)
    if (this.#owned.delete(partition) && !isFresh) this.#counted--
    this.#fresh = this.#fresh.filter(each => each !== partition)
  }

  #returnLent(): void {
    this.#counted -= this.#lent.size
    this.#lent.clear()
  }
}
