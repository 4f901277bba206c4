import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { Conditions } from '../awaited-conditions.ts'
import { HttpEndpoint, type ServerTls } from '../network/http-endpoint.ts'

/** A customer's endpoint. It succeeds until a test changes its responses. */
export class ChangingEndpoint {
  status = 200
  latencyMs = 0
  #successes = 0
  readonly #conditions = new Conditions()
  readonly #endpoint: HttpEndpoint

  private constructor(tls?: ServerTls) {
    this.#endpoint = new HttpEndpoint((request, response) => this.#answer(request, response), tls)
  }

  static async started(tls?: ServerTls): Promise<ChangingEndpoint> {
    const created = new ChangingEndpoint(tls)
    await created.#endpoint.start()
    return created
  }

  get url(): string {
    return `${this.#endpoint.url}/hooks`
  }

  /** Resolves after `count` more successful responses. */
  delivers(count: number): Promise<void> {
    const enough = this.#successes + count
    return this.#conditions.until(() => this.#successes >= enough)
  }

  close(): Promise<void> {
    return this.#endpoint.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume()
    if (this.latencyMs > 0) await delay(this.latencyMs)
    response.writeHead(this.status).end()
    if (this.status === 200) this.#successes++
    this.#conditions.changed()
  }
}
