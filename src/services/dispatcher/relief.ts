import { cloggedMs, slowSince } from '../../core/delivery/backlog.ts'
import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { Shard } from '../partitions/shard.ts'
import type { Delivery } from './delivery.ts'
import type { Lanes } from './lanes.ts'
import { createPump, type Step } from './pump.ts'

/** How often a partition at its limits is looked at again. */
const watchEvery = { whileAllGetsOn: durationMs(20), whileClogged: durationMs(250) }

interface Deps {
  readonly clock: Pick<Clock, 'after' | 'monotonic' | 'soon'>
  /** For how long the oldest of all records that are taken up is not done, in milliseconds. */
  readonly oldestOpenMs: () => number
  /** Until when the process was out of CPU, in monotonic milliseconds. */
  readonly outOfCpuUntil: () => number
  readonly lanes: Pick<Lanes, 'findSlow' | 'slow' | 'takeOut'>
  /** Moves a delivery that waited to a retry topic. */
  readonly moveOn: (delivery: Delivery) => void
  /** Whether it may be moved: what has come to the end of its window without an attempt waits here for that attempt. */
  readonly mayMove: (delivery: Delivery) => boolean
  readonly isOpen: () => boolean
}

/**
 * For partitions that have reached their limits. While all that is taken up gets on these are near; else partitions look on. Lanes that are
 * slower than what comes, while others have records there too, move their part of it on to a retry topic; else the partition waits, which holds
 * up nobody but that lane.
 */
export class Relief {
  readonly #deps: Deps
  /** Partitions at their limits that are looked at again. */
  readonly #watched = new Set<Shard>()
  /** Partitions of which slow lanes have more than what one turn moves. */
  readonly #moving = new Set<Shard>()
  readonly #move: () => void
  #isClogged = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#move = createPump(deps.clock, left => this.#moveNext(left))
  }

  /** Whether something does not get on, as of the last look at a partition that was at its limits. */
  get isClogged(): boolean {
    return this.#isClogged
  }

  /** A partition may have reached its limits. */
  relieve(shard: Shard): void {
    if (!shard.holds('backlog')) return
    const { clock, lanes, oldestOpenMs, outOfCpuUntil } = this.#deps
    this.#isClogged = oldestOpenMs() >= cloggedMs
    shard.reconsider()
    if (!shard.holds('backlog')) return
    const isWatched = this.#watched.has(shard)
    if (!isWatched) this.#watch(shard)
    if (!this.#isClogged) return
    if (!isWatched) lanes.findSlow(slowSince(clock.monotonic(), outOfCpuUntil()))
    this.#moving.add(shard)
    this.#move()
  }

  /** Nothing tells when a wait becomes too long: looks again for as long as the partition is at its limits. */
  #watch(shard: Shard): void {
    this.#watched.add(shard)
    this.#deps.clock.after(this.#isClogged ? watchEvery.whileClogged : watchEvery.whileAllGetsOn, () => {
      this.#watched.delete(shard)
      if (this.#deps.isOpen() && !shard.revoked) this.relieve(shard)
    })
  }

  /** Of the partition that has waited longest; what has come for a slow lane meanwhile goes too. */
  #moveNext(left: number): ReturnType<Step> {
    const [shard] = this.#moving
    if (shard === undefined) return undefined
    const moved = this.#moveOf(shard, left)
    if (moved < left) this.#moving.delete(shard)
    return moved
  }

  /** Returns how many it has moved. */
  #moveOf(shard: Shard, most: number): number {
    const { lanes, moveOn, mayMove, isOpen } = this.#deps
    let moved = 0
    if (!isOpen() || shard.revoked || !shard.mayStart) return moved
    for (const lane of lanes.slow) {
      if (moved >= most) break
      if (!shard.hasOthersThan(lane.destination)) continue
      const out = lanes.takeOut(lane, shard, most - moved, mayMove)
      for (const delivery of out) moveOn(delivery)
      moved += out.length
    }
    return moved
  }
}
