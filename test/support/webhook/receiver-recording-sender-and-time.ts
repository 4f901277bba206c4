import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Conditions } from '../awaited-conditions.ts'
import { HttpEndpoint } from '../network/http-endpoint.ts'

/** `at` is in ms of `performance.now()`. */
export interface Seen {
  readonly id: string
  /** The header `X-Process`. */
  readonly process: string
  readonly at: number
}

/**
 * Records the sender and the time of each request, and whether the sender can have received the
 * response.
 */
export class RecordedDeliveries {
  readonly seen: Seen[] = []
  /** Ids of messages whose connection was still open when the successful response was sent. */
  readonly delivered = new Set<string>()
  readonly #latencyMs: (count: number) => number
  readonly #conditions = new Conditions()
  readonly #endpoint = new HttpEndpoint((request, response) => this.#take(request, response))

  private constructor(latencyMs: (count: number) => number) {
    this.#latencyMs = latencyMs
  }

  /** Delay of the n-th response. */
  static async started(latencyMs: (count: number) => number): Promise<RecordedDeliveries> {
    const created = new RecordedDeliveries(latencyMs)
    await created.#endpoint.start()
    return created
  }

  get url(): string {
    return `${this.#endpoint.url}/hooks`
  }

  /** Every repeated request for a message, with the first request for it. */
  duplicates(): readonly { readonly first: Seen; readonly again: Seen }[] {
    const firsts = new Map<string, Seen>()
    return this.seen.flatMap(again => {
      const first = firsts.get(again.id)
      if (first === undefined) firsts.set(again.id, again)
      return first === undefined ? [] : [{ first, again }]
    })
  }

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
