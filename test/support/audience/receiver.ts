import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { Conditions } from '../awaited-conditions.ts'
import { HttpEndpoint } from '../network/http-endpoint.ts'

interface Told {
  readonly userId: string
  /** Undefined in a `delete` message. */
  readonly traits?: Readonly<Record<string, unknown>>
}

interface AcceptedRequest {
  readonly id: string
  readonly headers: IncomingMessage['headers']
  /** When the request was complete, in ms of `performance.now()`. */
  readonly at: number
}

/** A customer's endpoint. It ignores known message ids, and keeps the last value of each user. */
export class AudienceReceiver {
  readonly values = new Map<string, unknown>()
  /** The ids of all messages that got a 200. */
  readonly taken = new Set<string>()
  calls = 0
  /** Requests that got a 200, in order of arrival. */
  readonly accepted: AcceptedRequest[] = []
  /** The ids of messages that arrived again after they got a 200. */
  readonly repeated: string[] = []
  /** Users whose unchanged value arrived again with another message id. */
  readonly toldAgain: string[] = []
  /** Returns the response status for a message of this user. */
  answer: (userId: string) => number = () => 200
  /** Delay of every response, in ms. */
  latencyMs = 0
  readonly #conditions = new Conditions()
  readonly #endpoint = new HttpEndpoint((request, response) => this.#take(request, response))

  static async started(): Promise<AudienceReceiver> {
    const created = new AudienceReceiver()
    await created.#endpoint.start()
    return created
  }

  get url(): string {
    return `${this.#endpoint.url}/hooks`
  }

  members(): ReadonlySet<string> {
    return new Set([...this.values].flatMap(([userId, value]) => (value === true ? [userId] : [])))
  }

  get duplicates(): number {
    return this.repeated.length
  }

  until(condition: () => boolean): Promise<void> {
    return this.#conditions.until(condition)
  }

  close(): Promise<void> {
    return this.#endpoint.close()
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request)) as Told
    this.calls++
    const status = this.answer(body.userId)
    if (status === 200) this.#note(request.headers, body)
    if (this.latencyMs > 0) await delay(this.latencyMs)
    response.writeHead(status).end()
    this.#conditions.changed()
  }

  #note(headers: IncomingMessage['headers'], { userId, traits }: Told): void {
    const id = String(headers['x-message-id'])
    this.accepted.push({ id, headers, at: performance.now() })
    if (this.taken.has(id)) {
      this.repeated.push(id)
      return
    }
    this.taken.add(id)
    if (traits === undefined) return
    const [value] = Object.values(traits)
    if ((this.values.get(userId) ?? false) === value) this.toldAgain.push(userId)
    this.values.set(userId, value)
  }
}
