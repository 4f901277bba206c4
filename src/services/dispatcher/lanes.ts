import { Breaker } from '../../core/delivery/breaker.ts'
import { Lane } from '../../core/delivery/lane.ts'
import type { Places } from '../../core/delivery/places.ts'
import { Fifo } from '../../core/fifo.ts'
import type { Shard } from '../partitions/shard.ts'
import type { Delivery, DestinationLane } from './delivery.ts'

/**
 * So many lanes that wait for a place are asked when something has ended, and one more for each end, in turn: with a thousand destinations
 * most of them wait, and to ask all of them for each few places costs more than the calls. A lane whose own call has ended is asked too,
 * behind them: in its share is a place free, which none of the others may have.
 */
const leastAsked = 16

/** The lanes of all destinations, taken in turn: a long queue in one does not keep the others waiting. */
export class Lanes {
  readonly #places: Pick<Places, 'leavesOthersTheirs'>
  readonly #lanes = new Map<string, DestinationLane>()
  readonly #turns = new Fifo<DestinationLane>()
  /** Each stands here once; one that was asked out of turn stays, and is passed over unless it waits again. */
  readonly #blocked = new Fifo<DestinationLane>()
  /** What waits there waited too long, and they have not been empty since: they are slower than what comes. */
  readonly #slow = new Set<DestinationLane>()

  constructor(places: Pick<Places, 'leavesOthersTheirs'>) {
    this.#places = places
  }

  of(destination: string): DestinationLane {
    let lane = this.#lanes.get(destination)
    if (lane === undefined) {
      lane = {
        ...{ destination, queue: new Lane<Delivery>(), breaker: new Breaker(), calls: 0 },
        ...{ route: undefined, delivered: undefined, isInTurn: false },
        ...{ isBlocked: false, isAmongBlocked: false },
      }
      this.#lanes.set(destination, lane)
    }
    return lane
  }

  push(delivery: Delivery): void {
    const { lane } = delivery
    lane.queue.push(delivery, delivery.orderKey)
    this.#offerTurn(lane)
  }

  /** The next delivery in turn of a lane that has a share of the places, or undefined when there is none. */
  take(): Delivery | undefined {
    for (let lane = this.#turns.shift(); lane !== undefined; lane = this.#turns.shift()) {
      lane.isInTurn = false
      if (!this.#places.leavesOthersTheirs(lane)) {
        this.#block(lane)
        continue
      }
      const delivery = lane.queue.take()
      if (delivery === undefined) continue
      if (lane.queue.queued === 0) this.#slow.delete(lane)
      this.#offerTurn(lane)
      return delivery
    }
    return undefined
  }

  /** A taken delivery has ended or moved to a topic. `unblock` has to follow. */
  ended(delivery: Delivery): void {
    const { lane } = delivery
    lane.queue.ended(delivery.orderKey)
    // Nothing waits, and what comes next finds a permit: its queue may have been emptied into a retry topic.
    if (lane.queue.queued === 0) this.#slow.delete(lane)
    // The next one of its key is asked for after those that wait for a permit: else this lane would keep the permit forever.
    if (this.#blocked.length > 0 && !lane.isInTurn) lane.isBlocked = true
    else this.#offerTurn(lane)
  }

  /**
   * A taken delivery is left to the process that has its partition now. Nothing was started, so nothing ends for it: lanes that wait for a
   * permit are asked now.
   */
  dropped(delivery: Delivery): void {
    this.ended(delivery)
    this.unblock([delivery.lane])
  }

  /** Puts a taken delivery back: none of the destination's webhooks has a place free. */
  putBack(delivery: Delivery): void {
    const { lane } = delivery
    lane.queue.putBack(delivery, delivery.orderKey)
    this.#block(lane)
  }

  /** Puts a taken delivery back that was not to be started: it is the next one of its lane again. */
  restore(delivery: Delivery): void {
    const { lane } = delivery
    lane.queue.putBack(delivery, delivery.orderKey)
    this.#offerTurn(lane)
  }

  /**
   * Something of each of these lanes has ended, and places are free: some of those that wait for one are asked again, who has waited longest
   * first, and then these.
   */
  unblock(ended: readonly DestinationLane[]): void {
    for (let left = leastAsked + ended.length; left > 0; left--) {
      const lane = this.#blocked.shift()
      if (lane === undefined) break
      lane.isAmongBlocked = false
      this.#ask(lane)
    }
    for (const lane of ended) this.#ask(lane)
  }

  /** Finds the lanes that are slower than what comes: in which something has waited for its call since then, in monotonic milliseconds. */
  findSlow(since: number): void {
    for (const lane of this.#lanes.values()) {
      const oldest = lane.queue.oldest
      if (oldest !== undefined && oldest.of.takenUpAt <= since) this.#slow.add(lane)
    }
  }

  /** Those that were found to be. */
  get slow(): Iterable<DestinationLane> {
    return this.#slow
  }

  /** Every lane that there has been a delivery for. */
  get all(): Iterable<DestinationLane> {
    return this.#lanes.values()
  }

  /** Takes deliveries that wait in a lane for this shard out of it, in order: `most`, and what that leaves of its last key. */
  takeOut(
    lane: DestinationLane,
    shard: Shard,
    most: number,
    isWanted: (delivery: Delivery) => boolean,
  ): readonly Delivery[] {
    return lane.queue.takeOut(delivery => delivery.of.shard === shard && isWanted(delivery), most)
  }

  #block(lane: DestinationLane): void {
    lane.isBlocked = true
    if (lane.isAmongBlocked) return
    lane.isAmongBlocked = true
    this.#blocked.push(lane)
  }

  #ask(lane: DestinationLane): void {
    if (!lane.isBlocked) return
    lane.isBlocked = false
    this.#offerTurn(lane)
  }

  #offerTurn(lane: DestinationLane): void {
    if (lane.queue.ready === 0 || lane.isInTurn || lane.isBlocked) return
    lane.isInTurn = true
    this.#turns.push(lane)
  }
}
