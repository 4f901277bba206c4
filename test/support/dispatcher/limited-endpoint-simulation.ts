import { SlowDown } from '../../../src/core/flow/slow-down-after-429.ts'

/** An endpoint that responds with 429 above its limit, and the processes that send to it. */
export interface LimitedWorld {
  /** Requests per second that the endpoint accepts. */
  readonly limit: number
  /** How the endpoint counts requests: with a token bucket, or in windows of one second. */
  readonly counting: 'bucket' | 'window'
  readonly latencyMs: number
  /** Each process always has events to send. */
  readonly processes: number
  /** In seconds. If undefined, the 429 has no Retry-After. */
  readonly retryAfter?: number
  readonly change?: { readonly atMs: number; readonly limit: number }
}

export interface Traffic {
  readonly sent: readonly number[]
  readonly delivered: readonly number[]
}

/** The default of `delivery.perWebhook`. */
const maxInProgress = 64

export function simulateTraffic(world: LimitedWorld, seconds: number): Traffic {
  const { latencyMs, processes, retryAfter, change } = world
  const timers = new Timers()
  const endpoint = new Endpoint(world)
  const sent = Array<number>(seconds).fill(0)
  const delivered = Array<number>(seconds).fill(0)
  if (change !== undefined) timers.at(change.atMs, () => endpoint.setLimit(change.limit))

  const startProcess = (): (() => void) => {
    const slowDown = new SlowDown()
    let inProgress = 0
    let wakesAt = Number.POSITIVE_INFINITY

    function startAll(): void {
      while (inProgress < maxInProgress) {
        const wait = Math.ceil(slowDown.msToWait(timers.now))
        if (wait > 0) return wakeAt(timers.now + wait)
        slowDown.started()
        inProgress++
        attempt(timers.now)
      }
    }

    function wakeAt(time: number): void {
      if (wakesAt > timers.now && wakesAt <= time) return
      wakesAt = time
      timers.at(time, startAll)
    }

    function attempt(startedAt: number): void {
      timers.at(startedAt + latencyMs / 2, () => {
        const second = Math.floor(timers.now / 1_000)
        sent[second] = (sent[second] ?? 0) + 1
        const isAccepted = endpoint.accepts(timers.now)
        if (isAccepted) delivered[second] = (delivered[second] ?? 0) + 1
        timers.at(startedAt + latencyMs, () => ended(startedAt, isAccepted))
      })
    }

    function ended(startedAt: number, isAccepted: boolean): void {
      inProgress--
      if (isAccepted) slowDown.delivered(timers.now)
      else {
        slowDown.refused(startedAt, timers.now)
        if (retryAfter !== undefined) slowDown.pause(retryAfter * 1_000, timers.now)
      }
      startAll()
    }

    return startAll
  }

  for (let count = 0; count < processes; count++) timers.at(0, startProcess())
  timers.runUntil(seconds * 1_000)
  return { sent, delivered }
}

/** The mean of the elements `from` to `to - 1`. */
export const meanOf = (perSecond: readonly number[], from: number, to: number): number =>
  perSecond.slice(from, to).reduce((sum, count) => sum + count, 0) / (to - from)

class Endpoint {
  readonly #counting: LimitedWorld['counting']
  #limit: number
  #left: number
  #at = 0

  constructor({ limit, counting }: LimitedWorld) {
    this.#limit = limit
    this.#left = limit
    this.#counting = counting
  }

  setLimit(limit: number): void {
    this.#limit = limit
  }

  accepts(now: number): boolean {
    if (this.#counting === 'bucket')
      this.#left = Math.min(this.#limit, this.#left + ((now - this.#at) / 1_000) * this.#limit)
    else if (Math.floor(now / 1_000) !== Math.floor(this.#at / 1_000)) this.#left = this.#limit
    this.#at = now
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** A binary heap, because a simulation sets hundreds of thousands of timers. */
class Timers {
  now = 0
  readonly #heap: Timer[] = []

  at(time: number, run: () => void): void {
    const heap = this.#heap
    let index = heap.push({ at: time, run }) - 1
    for (let parent = (index - 1) >> 1; index > 0; index = parent, parent = (index - 1) >> 1) {
      if (this.#timeOf(parent) <= time) break
      this.#swap(index, parent)
    }
  }

  runUntil(end: number): void {
    for (let next = this.#take(); next !== undefined && next.at < end; next = this.#take()) {
      this.now = next.at
      next.run()
    }
  }

  #take(): Timer | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let index = 0; ; ) {
      const left = 2 * index + 1
      const child = this.#timeOf(left + 1) < this.#timeOf(left) ? left + 1 : left
      if (this.#timeOf(child) >= last.at) return first
      this.#swap(index, child)
      index = child
    }
  }

  #timeOf(index: number): number {
    return this.#heap[index]?.at ?? Number.POSITIVE_INFINITY
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap
    const kept = heap[one] as Timer
    heap[one] = heap[other] as Timer
    heap[other] = kept
  }
}
