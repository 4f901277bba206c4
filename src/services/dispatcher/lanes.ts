import { longestWaitMs } from '../../core/delivery/backlog.ts'
import { Breaker } from '../../core/delivery/breaker.ts'
import { Lane } from '../../core/delivery/lane.ts'
import { Fifo } from '../../core/fifo.ts'
import type { Shard } from '../partitions/shard.ts'
import type { Delivery } from './delivery.ts'

/** What is one destination's own: its queue and its breaker. */
export interface DestinationLane {
  readonly destination: string
  readonly queue: Lane<Delivery>
  readonly breaker: Breaker
  /** Stands among the turns: once, however much is ready. */
  isInTurn: boolean
  /** Has something ready but no place; asked again when a call ends. */
  isBlocked: boolean
  /** What waits here waited too long, and it has not been empty since: it is slower than what comes. */
  isSlow: boolean
}

/** The lanes of all destinations, taken in turn: a long queue in one does not keep the others waiting. */
export class Lanes {
  readonly #lanes = new Map<string, DestinationLane>()
  readonly #turns = new Fifo<DestinationLane>()
  readonly #blocked = new Fifo<DestinationLane>()

  of({ carried: { destination } }: Delivery): DestinationLane {
    let lane = this.#lanes.get(destination)
    if (lane === undefined) {
      lane = {
        ...{ destination, queue: new Lane<Delivery>(), breaker: new Breaker() },
        ...{ isInTurn: false, isBlocked: false, isSlow: false },
      }
      this.#lanes.set(destination, lane)
    }
    return lane
  }

  push(delivery: Delivery): void {
    const lane = this.of(delivery)
    lane.queue.push(delivery, delivery.orderKey)
    this.#offerTurn(lane)
  }

  /** The next delivery in turn of a lane that has a share of the places, or undefined when there is none. */
  take(hasShare: (destination: string) => boolean): Delivery | undefined {
    for (let lane = this.#turns.shift(); lane !== undefined; lane = this.#turns.shift()) {
      lane.isInTurn = false
      if (!hasShare(lane.destination)) {
        this.#block(lane)
        continue
      }
      const delivery = lane.queue.take()
      if (delivery === undefined) continue
      if (lane.queue.queued === 0) lane.isSlow = false
      this.#offerTurn(lane)
      return delivery
    }
    return undefined
  }

  /** A taken delivery has ended or moved to a topic. */
  ended(delivery: Delivery): void {
    const lane = this.of(delivery)
    lane.queue.ended(delivery.orderKey)
    this.#offerTurn(lane)
  }

  /** Puts a taken delivery back: none of the destination's webhooks has a place free. */
  putBack(delivery: Delivery): void {
    const lane = this.of(delivery)
    lane.queue.putBack(delivery, delivery.orderKey)
    this.#block(lane)
  }

  /** Puts a taken delivery back that was not to be started: it is the next one of its lane again. */
  restore(delivery: Delivery): void {
    const lane = this.of(delivery)
    lane.queue.putBack(delivery, delivery.orderKey)
    this.#offerTurn(lane)
  }

  /** A place has become free: who waits for one is asked again. */
  unblock(): void {
    for (let lane = this.#blocked.shift(); lane !== undefined; lane = this.#blocked.shift()) {
      lane.isBlocked = false
      this.#offerTurn(lane)
    }
  }

  /** The lanes that are slower than what comes, as of now in monotonic milliseconds. */
  slow(now: number): readonly DestinationLane[] {
    return [...this.#lanes.values()].filter(lane => {
      const oldest = lane.queue.oldest
      lane.isSlow ||= oldest !== undefined && now - oldest.of.takenUpAt >= longestWaitMs
      return lane.isSlow
    })
  }

  /** Takes what waits in a lane for this shard out of it, in order. */
  takeOut(lane: DestinationLane, shard: Shard): readonly Delivery[] {
    return lane.queue.takeOut(({ of }) => of.shard === shard)
  }

  #block(lane: DestinationLane): void {
    if (lane.isBlocked) return
    lane.isBlocked = true
    this.#blocked.push(lane)
  }

  #offerTurn(lane: DestinationLane): void {
    if (lane.queue.ready === 0 || lane.isInTurn || lane.isBlocked) return
    lane.isInTurn = true
    this.#turns.push(lane)
  }
}
