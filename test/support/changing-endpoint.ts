import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Conditions } from './conditions.ts'

/** A customer's endpoint that is well, and then is not. */
export class ChangingEndpoint {
  /** What it answers from now on. */
  status = 200
  /** How long it takes for that. */
  latencyMs = 0
  #successes = 0
  readonly #conditions = new Conditions()
  readonly #server: ReturnType<typeof createServer>
  readonly #scheme: 'http' | 'https'

  private constructor(tls?: { readonly cert: string; readonly key: string }) {
    const answer = (request: IncomingMessage, response: ServerResponse): void => void this.#answer(request, response)
    this.#server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer)
    this.#server.keepAliveTimeout = 120_000
    this.#scheme = tls === undefined ? 'http' : 'https'
  }

  static async started(tls?: { readonly cert: string; readonly key: string }): Promise<ChangingEndpoint> {
    const endpoint = new ChangingEndpoint(tls)
    await once(endpoint.#server.listen(0, '127.0.0.1'), 'listening')
    return endpoint
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hooks`
  }

  /** Resolves when so many more requests than now were answered with a success. */
  delivers(count: number): Promise<void> {
    const enough = this.#successes + count
    return this.#conditions.until(() => this.#successes >= enough)
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume()
    if (this.latencyMs > 0) await delay(this.latencyMs)
    response.writeHead(this.status).end()
    if (this.status === 200) this.#successes++
    this.#conditions.changed()
  }
}
