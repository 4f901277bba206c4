import { Lane } from '../../core/delivery/lane.ts'
import { Fifo } from '../../core/fifo.ts'
import type { Delivery } from './delivery.ts'

/** The lanes of all destinations, taken in turn so that a long queue does not keep the others waiting. */
export class Lanes {
  readonly #lanes = new Map<string, Lane<Delivery>>()
  /** Destinations with something ready, each once. */
  readonly #turns = new Fifo<string>()
  readonly #inTurn = new Set<string>()
  /** Destinations whose webhooks have no place free; asked again when a call ends. */
  readonly #blocked = new Set<string>()

  push(delivery: Delivery): void {
    const { destination } = delivery.carried
    let lane = this.#lanes.get(destination)
    if (lane === undefined) {
      lane = new Lane()
      this.#lanes.set(destination, lane)
    }
    lane.push(delivery, delivery.orderKey)
    this.#offerTurn(destination, lane)
  }

  /** The next delivery in turn, or undefined when nothing is ready. */
  take(): Delivery | undefined {
    for (let destination = this.#turns.shift(); destination !== undefined; destination = this.#turns.shift()) {
      this.#inTurn.delete(destination)
      const lane = this.#lanes.get(destination)
      const delivery = lane?.take()
      if (lane === undefined || delivery === undefined) continue
      this.#offerTurn(destination, lane)
      return delivery
    }
    return undefined
  }

  /** A taken delivery has ended or moved to a topic. */
  ended(delivery: Delivery): void {
    const { destination } = delivery.carried
    const lane = this.#lanes.get(destination)
    if (lane === undefined) return
    lane.ended(delivery.orderKey)
    this.#offerTurn(destination, lane)
  }

  /** Puts a taken delivery back: none of the destination's webhooks has a place free. */
  block(delivery: Delivery): void {
    this.#blocked.add(delivery.carried.destination)
    this.#lanes.get(delivery.carried.destination)?.putBack(delivery, delivery.orderKey)
  }

  /** A place has become free somewhere: who was blocked is asked again. */
  unblock(): void {
    if (this.#blocked.size === 0) return
    const blocked = [...this.#blocked]
    this.#blocked.clear()
    for (const destination of blocked) {
      const lane = this.#lanes.get(destination)
      if (lane !== undefined) this.#offerTurn(destination, lane)
    }
  }

  #offerTurn(destination: string, lane: Lane<Delivery>): void {
    if (lane.ready === 0 || this.#inTurn.has(destination) || this.#blocked.has(destination)) return
    this.#inTurn.add(destination)
    this.#turns.push(destination)
  }
}
