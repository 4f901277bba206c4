import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** In PEM. */
export interface ServerTls {
  readonly cert: string
  readonly key: string
}

/**
 * An HTTP or HTTPS server on a free port of 127.0.0.1. Idle connections stay open for longer than a
 * test takes.
 */
export class HttpEndpoint {
  readonly #scheme: 'http' | 'https'
  readonly #server

  constructor(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>, tls?: ServerTls) {
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      answer(request, response).catch(error => {
        // A killed sender leaves an incomplete request. This is not an error of the test.
        if (request.complete) throw error
      })
    }
    this.#scheme = tls === undefined ? 'http' : 'https'
    this.#server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
    this.#server.keepAliveTimeout = 600_000
  }

  async start(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
  }

  /** Base URL without a path. */
  get url(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}
