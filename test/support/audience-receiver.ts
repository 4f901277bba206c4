import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { Conditions } from './conditions.ts'
import { HttpEndpoint } from './http-endpoint.ts'

interface Told {
  readonly userId: string
  /** Absent from a delete. */
  readonly traits?: Readonly<Record<string, unknown>>
}

/** A customer's endpoint: drops what it has seen by message id, and knows for each user the value that it was told last. */
export class AudienceReceiver {
  readonly values = new Map<string, unknown>()
  /** The ids of all messages that were taken. */
  readonly taken = new Set<string>()
  /** Also those that were not taken. */
  calls = 0
  /** The id of each message that came again under one that was taken before. */
  readonly repeated: string[] = []
  /** Users who were told what they had been told already, by a message of another id. */
  readonly toldAgain: string[] = []
  /** What a message is answered with. */
  answer: (userId: string) => number = () => 200
  /** Answers come so late. */
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

  /** Who is in it, as far as this endpoint knows. */
  members(): ReadonlySet<string> {
    return new Set([...this.values].flatMap(([userId, value]) => (value === true ? [userId] : [])))
  }

  get duplicates(): number {
    return this.repeated.length
  }

  /** Resolves as soon as the condition holds; it is asked again after each message. */
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
    if (status === 200) this.#note(String(request.headers['x-message-id']), body)
    if (this.latencyMs > 0) await delay(this.latencyMs)
    response.writeHead(status).end()
    this.#conditions.changed()
  }

  #note(id: string, { userId, traits }: Told): void {
    if (this.taken.has(id)) {
      this.repeated.push(id)
      return
    }
    this.taken.add(id)
    if (traits === undefined) return
    const [value] = Object.values(traits)
    // Whom nobody has told of is not in it.
    if ((this.values.get(userId) ?? false) === value) this.toldAgain.push(userId)
    this.values.set(userId, value)
  }
}
