import type { IncomingMessage, ServerResponse } from 'node:http'
import { Conditions } from '../awaited-conditions.ts'
import { HttpEndpoint } from '../network/http-endpoint.ts'

/** How many requests arrived in a time span of a test. */
export interface Arrivals {
  /**
   * The maximum number of accepted requests in any second without a stall. In a stall, the event
   * loop of the receiver does not run. Requests then wait in the receiver's sockets, and later seem
   * to arrive together.
   */
  readonly maxInOneSecond: number
  /**
   * The maximum number of accepted requests with the same second in the header `webhook-timestamp`,
   * which the sender sets when it begins an attempt. 0 if the requests do not have the header. This
   * number is exact even on a machine without idle cores. `maxInOneSecond` may then be too high:
   * Node accepts only one connection in each iteration of the event loop. So connections wait in
   * the kernel even without a stall, and their requests then seem to arrive together.
   */
  readonly maxSentInOneSecond: number
  readonly perSecond: number
  /**
   * The median of the numbers of requests in each second. Unlike the mean, the median ignores
   * pauses of a process.
   */
  readonly medianPerSecond: number
}

/**
 * A time span in which the event loop of the receiver did not run. It includes the time in which
 * the receiver then accepted the requests that had waited. Times are monotonic milliseconds.
 */
interface Stall {
  readonly from: number
  /** `Infinity` until the receiver has accepted the waiting requests. */
  until: number
}

const tickMs = 10
/**
 * Minimum length of a stall, in ms. A shorter one hardly affects the counts: at 50 requests per
 * second, two or three requests wait in 50 ms.
 */
const minStallMs = 50

/**
 * A receiver that records when requests arrive. If it has a limit of requests per second, it
 * responds with 429 to the requests above the limit. A token bucket with the tokens of one second
 * decides which requests these are. Times are monotonic milliseconds.
 */
export class LimitedReceiver {
  /** Arrival times of the requests that got a 200. */
  readonly accepted: number[] = []
  /** The header `webhook-timestamp` of each accepted request, in seconds since 1970. */
  readonly #sentSeconds: number[] = []
  /** Arrival times of the requests that got a 429. */
  readonly refused: number[] = []
  readonly stalls: Stall[] = []
  #limit: number
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

  /** @param limit requests per second. Without it, all requests are accepted */
  static async started(limit = Number.POSITIVE_INFINITY): Promise<LimitedReceiver> {
    const created = new LimitedReceiver(limit)
    await created.#endpoint.start()
    return created
  }

  get url(): string {
    return `${this.#endpoint.url}/hooks`
  }

  /** Accepts this number of requests per second from now on. */
  limitTo(limit: number): void {
    this.#limit = limit
  }

  /** Resolves when the receiver has accepted `count` more requests. */
  accepts(count: number): Promise<void> {
    const enough = this.accepted.length + count
    return this.#conditions.until(() => this.accepted.length >= enough)
  }

  /**
   * Resolves when the receiver has accepted the requests that waited during all stalls up to now.
   */
  seesEndOfStalls(): Promise<void> {
    return this.#conditions.until(() => this.stalls.every(({ until }) => until < Number.POSITIVE_INFINITY))
  }

  close(): Promise<void> {
    clearInterval(this.#ticks)
    return this.#endpoint.close()
  }

  /** Counts the accepted requests that arrived from `from` to before `until`. */
  arrivals(from: number, until: number): Arrivals {
    const isWithin = (_: unknown, index: number): boolean => {
      const at = this.accepted[index] as number
      return at >= from && at < until
    }
    const bySecond = Map.groupBy(this.#sentSeconds.filter(isWithin).filter(Number.isFinite), second => second)
    const maxSentInOneSecond = Math.max(0, ...[...bySecond.values()].map(({ length }) => length))
    return { ...arrivalsOf(this.accepted, this.stalls, from, until), maxSentInOneSecond }
  }

  /**
   * Records the start and the end of stalls. Node runs timers before it reads sockets. So a late
   * tick of the timer shows only that a stall occurred. The first tick that is not late shows that
   * the receiver has accepted the requests that waited.
   */
  #noteStall(): void {
    const now = performance.now()
    const last = this.stalls.at(-1)
    const isLate = now - this.#tickedAt > minStallMs
    if (last?.until === Number.POSITIVE_INFINITY) {
      if (!isLate) last.until = now
      this.#conditions.changed()
    } else if (isLate) this.stalls.push({ from: this.#tickedAt, until: Number.POSITIVE_INFINITY })
    this.#tickedAt = now
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const now = performance.now()
    const isAccepted = this.#takeToken(now)
    ;(isAccepted ? this.accepted : this.refused).push(now)
    if (isAccepted) this.#sentSeconds.push(Number(request.headers['webhook-timestamp']))
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

function arrivalsOf(
  times: readonly number[],
  stalls: readonly Stall[],
  from: number,
  until: number,
): Omit<Arrivals, 'maxSentInOneSecond'> {
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
