import type { IncomingMessage, ServerResponse } from 'node:http'
import { Conditions } from '../awaited-conditions.ts'
import { HttpEndpoint } from '../network/http-endpoint.ts'

export interface Arrivals {
  /**
   * Maximum accepted requests in one second, without seconds that had a stall: after a stall,
   * waiting requests seem to arrive together.
   */
  readonly maxInOneSecond: number
  /**
   * Maximum accepted requests with the same second in `webhook-timestamp`. Unlike `maxInOneSecond`,
   * it is exact even if requests wait in the kernel.
   */
  readonly maxSentInOneSecond: number
  readonly perSecond: number
  /** Unlike the mean, the median ignores pauses of a process. */
  readonly medianPerSecond: number
}

/**
 * A period in which the receiver's event loop did not run, or caught up with waiting requests (ms
 * of `performance.now()`).
 */
interface Stall {
  readonly from: number
  /** `Infinity` until the receiver has accepted the waiting requests. */
  until: number
}

const tickMs = 10
/**
 * In ms. A shorter stall hardly affects the counts: at 50 requests per second, two or three wait.
 */
const minStallMs = 50

/**
 * Records when requests arrive, in ms of `performance.now()`. Responds with 429 above its limit, a
 * token bucket of one second.
 */
export class LimitedReceiver {
  readonly accepted: number[] = []
  /** The header `webhook-timestamp` of each accepted request. */
  readonly #sentSeconds: number[] = []
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

  /** `limit` is in requests per second. By default, all requests are accepted. */
  static async started(limit = Number.POSITIVE_INFINITY): Promise<LimitedReceiver> {
    const created = new LimitedReceiver(limit)
    await created.#endpoint.start()
    return created
  }

  get url(): string {
    return `${this.#endpoint.url}/hooks`
  }

  limitTo(limit: number): void {
    this.#limit = limit
  }

  accepts(count: number): Promise<void> {
    const enough = this.accepted.length + count
    return this.#conditions.until(() => this.accepted.length >= enough)
  }

  /** Resolves when the receiver has accepted the requests that waited during stalls. */
  seesEndOfStalls(): Promise<void> {
    return this.#conditions.until(() => this.stalls.every(({ until }) => until < Number.POSITIVE_INFINITY))
  }

  close(): Promise<void> {
    clearInterval(this.#ticks)
    return this.#endpoint.close()
  }

  /** Counts the accepted requests from `from` to before `until`. */
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
   * Notes when a stall begins or ends. Node runs timers before it reads sockets, so at the late
   * tick, requests still wait: the stall ends with the next punctual tick.
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
