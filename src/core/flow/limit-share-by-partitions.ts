import { flowLimits } from './flow-control-constants.ts'

const { handoverMs } = flowLimits.share

interface OwnedPartition {
  /** When the partition was assigned to this process. */
  readonly since: number
  /** Whether this process has to give the partition to another process. */
  isLeaving: boolean
}

/*
 * The partitions of the events topic divide a limit of the whole installation. While a partition
 * moves to another process, the parts of all processes together must never exceed the limit:
 *
 * Rate: the previous owner uses the rate until it joins the consumer group again after the
 * revocation. In the same rebalance, the next owner gets the partition. It uses the rate 250 ms
 * later.
 *
 * Permits: the previous owner releases the permits when the revocation begins. The next owner waits
 * for the timeout of a request, because started requests may continue.
 *
 * A process that has lost all its partitions uses no rate, because other processes may already own
 * these partitions.
 */

/**
 * Computes which part of the limits of the whole installation this process may use. Times are
 * monotonic milliseconds.
 */
export class PartitionShare {
  #count: number | undefined
  readonly #owned = new Map<number, OwnedPartition>()
  /**
   * Revoked partitions whose rate this process still uses, until it joins the consumer group again.
   */
  readonly #revokedInUse = new Set<number>()
  /**
   * Number of partitions that add to the rate: partitions in `#revokedInUse`, and owned partitions
   * that are not in `#fresh`.
   */
  #counted = 0
  /**
   * New partitions, in order of assignment. A partition adds to the rate only after `handoverMs`
   * have passed since its assignment.
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
   * Notes that this process has joined the consumer group again, and must give the partitions in
   * `leaving` to other processes.
   */
  joined(leaving: ReadonlySet<number>, now: number): void {
    this.#advance(now)
    this.#releaseRevoked()
    for (const [partition, owned] of this.#owned) owned.isLeaving = leaving.has(partition)
  }

  revoked(partition: number, now: number): void {
    this.#advance(now)
    const isInUse = this.#owned.get(partition)?.isLeaving === true && !this.#fresh.includes(partition)
    this.#remove(partition)
    if (isInUse) {
      this.#revokedInUse.add(partition)
      this.#counted++
    }
    if (this.#owned.size === 0) this.#releaseRevoked()
  }

  /** Whether this process has no part in any limit. */
  get hasNoPartitions(): boolean {
    return this.#owned.size === 0
  }

  /** The part of a rate that this process may use now, 0 to 1. */
  rateAt(now: number): number {
    this.#advance(now)
    return this.#rate
  }

  /**
   * The integral of `rateAt` over time, in seconds. Its increase, multiplied by a rate limit of the
   * installation, is the number of attempts that this process may start.
   */
  secondsUntil(now: number): number {
    this.#advance(now)
    return this.#seconds
  }

  /**
   * The number of permits, of `total`, that this process may use. A new partition adds permits only
   * after `settleMs`; until then, `isPending` is true. `rotateBy` differs between destinations, and
   * selects the partitions that get the remainder of the division.
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

  #releaseRevoked(): void {
    this.#counted -= this.#revokedInUse.size
    this.#revokedInUse.clear()
  }
}
