import { flowLimits } from './limits.ts'

const { handoverMs } = flowLimits.share

interface OwnedPartition {
  /** When it was assigned. */
  readonly since: number
  /** Whether this process has to give it to another one. Its work is then being finished. */
  isLeaving: boolean
}

/*
 * The partitions of the events topic divide a limit that holds for the whole installation. Each
 * partition has one owner, so the parts of all processes never add up to more than the limit. What
 * happens when a partition moves differs:
 *
 * rate     The previous owner keeps the rate of the partition until the join that assigns the
 *          partition to its next owner. All members get the result of a join at nearly the same
 *          time, and the next owner begins 250 ms later. So the rate is nearly always in use, and
 *          never twice.
 * permits  The previous owner releases the permits when the revocation begins. Requests that it has
 *          started may continue for the timeout of a request. The next owner waits for that time.
 *
 * The group may have removed a process that no longer owns a partition. Then other processes may
 * own its partitions already, so it keeps nothing.
 */

/**
 * The part of this process in the limits of the whole installation, by the partitions of the events
 * topic that it owns. Times are monotonic milliseconds.
 */
export class PartitionShare {
  /** The number of partitions of the events topic; `undefined` until it is known. */
  #count: number | undefined
  readonly #owned = new Map<number, OwnedPartition>()
  /** Revoked partitions that add to the rate until the next join assigns them. */
  readonly #lent = new Set<number>()
  /** Number of partitions that add to the rate: owned for `handoverMs`, or lent. */
  #counted = 0
  /** Owned partitions that do not add to the rate yet, in order of assignment. */
  #fresh: number[] = []
  /** The integral of the rate up to `#advancedTo`: see `secondsUntil`. */
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

  /** Notes that a join has ended. `leaving` are the partitions that this process has to revoke. */
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
   * The integral of `rateAt` over time, in seconds. Multiplied by attempts per second, a difference
   * is the number of attempts that the process may start between two times, also when partitions
   * have moved in between.
   */
  secondsUntil(now: number): number {
    this.#advance(now)
    return this.#seconds
  }

  /**
   * The number of permits of this process, of `total` for the installation. Partition `p` of `n`
   * has the permits `p`, `p + n`, and so on. `rotateBy` differs between destinations, so that those
   * with few permits do not all have them in the same process. A partition counts when this process
   * has owned it for `settleMs`; `isPending`: further permits follow without another assignment.
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

  /** Moves the integral to `now`, and counts the partitions whose handover time has passed. */
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
