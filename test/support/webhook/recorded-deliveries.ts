import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Conditions } from '../conditions.ts'
import { HttpEndpoint } from '../network/http-endpoint.ts'

/** A request that came in. Times are milliseconds of one monotonic clock. */
export interface Seen {
  readonly id: string
  /** Which process sent it, as it says in the header `X-Process`. */
  readonly process: string
  readonly at: number
}

/** A receiver that records the sender and the time of each request, and which answers the sender can have seen. */
export class RecordedDeliveries {
  readonly seen: Seen[] = []
  /** The ids of all messages whose sender has had a success. */
  readonly delivered = new Set<string>()
  readonly #latencyMs: (count: number) => number
  readonly #conditions = new Conditions()
  readonly #endpoint = new HttpEndpoint((request, response) => this.#take(request, response))

  private constructor(latencyMs: (count: number) => number) {
    this.#latencyMs = latencyMs
  }

  /** @param latencyMs how long the n-th request waits for its answer. */
  static async started(latencyMs: (count: number) => number): Promise<RecordedDeliveries> {
    const created = new RecordedDeliveries(latencyMs)
    await created.#endpoint.start()
    return created
  }

  get url(): string {
    return `${this.#endpoint.url}/hooks`
  }

  /** Every request after the first for the same message, with that first one. */
  duplicates(): readonly { readonly first: Seen; readonly again: Seen }[] {
    const firsts = new Map<string, Seen>()
    return this.seen.flatMap(again => {
      const first = firsts.get(again.id)
      if (first === undefined) firsts.set(again.id, again)
      return first === undefined ? [] : [{ first, again }]
    })
  }

  /** Resolves as soon as the condition holds; it is asked again after each request and each answer. */
  until(condition: () => boolean): Promise<void> {
    return this.#conditions.until(condition)
  }

  close(): Promise<void> {
    return this.#endpoint.close()
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume()
    await once(request, 'close')
    if (!request.complete) return
    const seen: Seen = {
      id: String(request.headers['x-message-id']),
      process: String(request.headers['x-process']),
      at: performance.now(),
    }
    this.seen.push(seen)
    this.#check()
    setTimeout(() => {
      if (request.socket.destroyed) return
      this.delivered.add(seen.id)
      response.end()
      this.#check()
    }, this.#latencyMs(this.seen.length))
  }

  #check(): void {
    this.#conditions.changed()
  }
}
