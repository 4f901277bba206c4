import type { IncomingMessage, ServerResponse } from 'node:http'
import { Conditions } from '../awaited-conditions.ts'
import { HttpEndpoint } from '../network/http-endpoint.ts'

/** How requests arrived in a part of a test. */
export interface Arrivals {
  /**
   * The maximum over all seconds in which the receiver ran without a stall. During a stall, requests
   * wait in its sockets, and then seem to arrive together.
   */
  readonly maxInOneSecond: number
  readonly perSecond: number
  /** The median of the numbers in each second: unlike the mean, it ignores pauses of a process. */
  readonly medianPerSecond: number
}

/** A time in which the event loop of the receiver did not run, in monotonic milliseconds. */
interface Stall {
  readonly from: number
  readonly until: number
}

const tickMs = 10
/** A shorter pause of the event loop is not a stall: 50 requests per second are 2 in this time. */
const minStallMs = 50

/**
 * A receiver that records when requests arrive. With a limit, it responds with 429 to all requests
 * above it; it counts them with a token bucket of one second. Times are monotonic milliseconds.
 */
export class LimitedReceiver {
  /** When each request arrived that was not refused. */
  readonly accepted: number[] = []
  /** When each request arrived that got a 429. */
  readonly refused: number[] = []
  readonly stalls: Stall[] = []
  readonly #limit: number
  #tokens: number
  #filledAt = performance.now()
  readonly #conditions = new Conditions()
  readonly #endpoint = new HttpEndpoint((request, response) => this.#take(request, response))

  readonly #ticks: NodeJS.Timeout
  #tickedAt = performance.now()

  private constructor(limit: number) {
    this.#limit = this.#tokens = limit
    this.#ticks = setInterval(() => this.#noteStall(), tickMs)
  }

  /** @param limit requests per second; without it, all are accepted. */
  static async started(limit = Number.POSITIVE_INFINITY): Promise<LimitedReceiver> {
    const created = new LimitedReceiver(limit)
    await created.#endpoint.start()
    return created
  }

  get url(): string {
    return `${this.#endpoint.url}/hooks`
  }

  /** Resolves when it has accepted `count` requests from now on. */
  accepts(count: number): Promise<void> {
    const enough = this.accepted.length + count
    return this.#conditions.until(() => this.accepted.length >= enough)
  }

  close(): Promise<void> {
    clearInterval(this.#ticks)
    return this.#endpoint.close()
  }

  /** How the accepted requests arrived from one time to another. */
  arrivals(from: number, until: number): Arrivals {
    return arrivalsOf(this.accepted, this.stalls, from, until)
  }

  #noteStall(): void {
    const now = performance.now()
    if (now - this.#tickedAt > minStallMs) this.stalls.push({ from: this.#tickedAt, until: now })
    this.#tickedAt = now
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const now = performance.now()
    const isAccepted = this.#takeToken(now)
    ;(isAccepted ? this.accepted : this.refused).push(now)
    request.resume()
    response.writeHead(isAccepted ? 200 : 429).end()
    this.#conditions.changed()
  }

  #takeToken(now: number): boolean {
    if (this.#limit === Number.POSITIVE_INFINITY) return true
    this.#tokens = Math.min(this.#limit, this.#tokens + (this.#limit * (now - this.#filledAt)) / 1_000)
    this.#filledAt = now
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}

function arrivalsOf(times: readonly number[], stalls: readonly Stall[], from: number, until: number): Arrivals {
  const within = times.filter(at => at >= from && at < until)
  const hasStall = (begin: number, end: number): boolean =>
    stalls.some(stall => stall.from < end && stall.until > begin)
  let maxInOneSecond = 0
  for (let first = 0, last = 0; last < within.length; last++) {
    const end = within[last] as number
    while (end - (within[first] as number) >= 1_000) first++
    if (!hasStall(end - 1_000, end)) maxInOneSecond = Math.max(maxInOneSecond, last - first + 1)
  }
  const seconds = Array.from({ length: Math.floor((until - from) / 1_000) }, (_, second) => {
    const begin = from + second * 1_000
    return within.filter(at => at >= begin && at < begin + 1_000).length
  }).sort((a, b) => a - b)
  const medianPerSecond = seconds[seconds.length >> 1] ?? 0
  return { maxInOneSecond, perSecond: (within.length * 1_000) / (until - from), medianPerSecond }
}
