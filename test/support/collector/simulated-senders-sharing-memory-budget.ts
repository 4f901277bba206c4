import { BodyBudget } from '../../../src/core/collector/request-body-memory-budget.ts'

/** How a sender sends each of its bodies. */
export interface Sending {
  /**
   * Total bytes that have arrived `afterMs` after the start of the body. The first `afterMs` is 0.
   */
  readonly arrivals: readonly (readonly [afterMs: number, bytes: number])[]
  readonly contentLength: number
  /** Maximum ms from the end of a body, or its refusal, to the start of the next one. */
  readonly pauseMs: number
}

export interface Outcome {
  complete: number
  refused: number
}

/**
 * Simulates senders without a key that share one memory budget. Each sender has its own address.
 */
export class SimulatedSenders {
  #now = 0
  #senders = 0
  readonly #random = pseudoRandom()
  /** Functions to call, by the simulated time in ms. */
  readonly #agenda = new Map<number, (() => void)[]>()
  readonly #budget: BodyBudget

  constructor(keylessBytes: number) {
    const limits = { authenticated: 4 * keylessBytes, keyless: keylessBytes, perAddress: 2 * keylessBytes }
    this.#budget = new BodyBudget(
      limits,
      () => this.#now,
      () => {},
    )
  }

  /**
   * Adds senders. They begin at random times within one second, or within `pauseMs` if that is
   * longer. The returned counts grow during `run`.
   */
  add(count: number, sending: Sending): Outcome {
    const outcome = { complete: 0, refused: 0 }
    for (let index = 0; index < count; index += 1) {
      const address = `sender ${++this.#senders}`
      this.#after(Math.max(1_000, sending.pauseMs) * this.#random(), () => this.#send(address, sending, outcome))
    }
    return outcome
  }

  run(durationMs: number): void {
    for (; this.#now < durationMs; this.#now += 1) {
      for (const act of this.#agenda.get(this.#now) ?? []) act()
      this.#agenda.delete(this.#now)
    }
  }

  #after(ms: number, act: () => void): void {
    const time = this.#now + Math.max(1, Math.floor(ms))
    const acts = this.#agenda.get(time)
    if (acts === undefined) this.#agenda.set(time, [act])
    else acts.push(act)
  }

  #send(address: string, sending: Sending, outcome: Outcome): void {
    const { arrivals, contentLength, pauseMs } = sending
    let capacity = 0
    let isOver = false
    const end = (result: keyof Outcome): void => {
      isOver = true
      outcome[result] += 1
      memory.release()
      this.#after(pauseMs * this.#random(), () => this.#send(address, sending, outcome))
    }
    const memory = this.#budget.open({ sourceId: undefined, address }, () => end('refused'))
    const arrive = (index: number): void => {
      const arrival = arrivals[index]
      if (isOver || arrival === undefined) return
      const [time, bytes] = arrival
      const needed = grown(capacity, bytes, contentLength)
      if (needed > capacity && !memory.take(needed - capacity)) return end('refused')
      capacity = needed
      if (bytes >= contentLength) return end('complete')
      this.#after((arrivals[index + 1]?.[0] ?? 0) - time, () => arrive(index + 1))
    }
    arrive(0)
  }
}

/**
 * The new size of a body's memory, as `BodyBuffer` computes it, after `needed` bytes have arrived.
 */
const grown = (capacity: number, needed: number, contentLength: number): number =>
  needed <= capacity ? capacity : Math.min(Math.max(needed, Math.ceil(1.25 * capacity), 16_384), contentLength)

/** Returns a generator of numbers in [0, 1) that are the same in each run. */
function pseudoRandom(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
