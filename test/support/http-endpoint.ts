import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP server on a free port of 127.0.0.1. It keeps connections for longer than any test takes: who breaks them off is the test. */
export class HttpEndpoint {
  readonly #server

  constructor(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
    this.#server = createServer((request, response) => {
      answer(request, response).catch(error => {
        // Whose sender was killed in the middle is no request.
        if (request.complete) throw error
      })
    })
    this.#server.keepAliveTimeout = 600_000
  }

  async start(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
  }

  /** Without a path. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}
