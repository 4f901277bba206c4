import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import got, { type Request } from 'got'
import { type UrlParts, urlParts } from '../../core/network/url.ts'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/ports.ts'
import { type Agents, createAgents } from './agents.ts'
import { codeOf, failureOf, ResponseTooLong, rootOf, timeoutResult } from './call-failure.ts'
import { maxBodyBytes, maxHeadBytes, maxInterimResponses, staleCodes } from './client-limits.ts'
import { type ConnectionsProgress, createConnectionsProgress } from './connection-progress.ts'
import { type CallEnd, createTransport, type Exchange, type TransportDeps } from './transport.ts'

/** A got client without redirects, retries, decompression and errors for HTTP statuses. */
const client = got.extend({
  method: 'POST',
  followRedirect: false,
  retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [] },
  decompress: false,
  throwHttpErrors: false,
})

/** Sends webhook requests with got over kept-alive connections. */
export function createGotTransport(deps: TransportDeps): WebhookTransport {
  return createTransport(deps, ({ network, resolve, clock }) => {
    const connections = createConnectionsProgress(clock)
    const agents = createAgents({ network, resolve, connections })
    const deps = { agents, connections, partsOf: rememberedParts() }
    return {
      exchange: (call, end) => new GotExchange(call, deps, end),
      close: () => agents.close(),
    }
  })
}

interface ExchangeDeps {
  readonly agents: Agents
  readonly connections: ConnectionsProgress
  readonly partsOf: (url: string) => UrlParts
}

/**
 * Caches parsed URLs. They come from the configuration, so they are few. got rejects other schemes
 * before this is called.
 */
function rememberedParts(): ExchangeDeps['partsOf'] {
  const known = new Map<string, UrlParts>()
  return url => {
    const parts = known.get(url) ?? (urlParts(url) as UrlParts)
    known.set(url, parts)
    return parts
  }
}

/**
 * One webhook request: sends it, waits for the response head, and reads at most 64 KiB of the body.
 *
 * The request body is written to the stream. As an option, got would encode it again, send it in
 * chunks, and destroy the connection when the response arrives between two chunks. The request
 * itself is created here, through got's option `request`, so that header names keep their case and
 * got adds none.
 */
class GotExchange implements Exchange {
  readonly #call: WebhookCall
  readonly #deps: ExchangeDeps
  readonly #callEnd: CallEnd
  #stream: Request | undefined
  #request: ClientRequest | undefined
  /** Set when the response head is complete, and not changed afterwards. */
  #answer: CallResult | undefined
  #isRepeated = false
  #hasEnded = false

  constructor(call: WebhookCall, deps: ExchangeDeps, end: CallEnd) {
    this.#call = call
    this.#deps = deps
    this.#callEnd = end
  }

  get isSent(): boolean {
    return this.#request?.writableFinished === true
  }

  start(): void {
    this.#request = undefined
    const stream = client.stream(this.#call.url, { request: () => this.#send() })
    this.#stream = stream
    stream.on('error', error => this.#fail(error))
    stream.on('response', (response: IncomingMessage) => this.#receive(stream, response))
    // Node emits `upgrade` instead of `response` for a 101 that names a protocol.
    stream.on('upgrade', (response: IncomingMessage) => {
      this.#note(response)
      this.#drop()
    })
    stream.end(this.#call.body)
  }

  expire(after: string): void {
    this.#answer ??= timeoutResult(this.#deps.connections.phaseOf(this.#request), after)
    this.#drop()
  }

  #send(): ClientRequest {
    const agents = this.#isRepeated ? this.#deps.agents.fresh() : this.#deps.agents.shared()
    const { isTls, host, hostname, port, path } = this.#deps.partsOf(this.#call.url)
    const request = (isTls ? https : http).request({
      method: 'POST',
      hostname,
      port,
      path,
      headers: this.#headers(host),
      maxHeaderSize: maxHeadBytes,
      agent: isTls ? agents.https : agents.http,
    })
    let interim = 0
    request.on('information', () => {
      if (++interim > maxInterimResponses)
        this.#fail(new ResponseTooLong(`more than ${maxInterimResponses} interim responses`))
    })
    this.#request = request
    return request
  }

  /**
   * The headers as an array, which Node writes directly. It would first store the headers of an
   * object one by one.
   */
  #headers(host: string): string[] {
    const { headers, body } = this.#call
    const list: string[] = []
    for (const name in headers) list.push(name, headers[name] as string)
    list.push('Host', host, 'Content-Length', String(body.length))
    return list
  }

  #note(response: IncomingMessage): void {
    const { statusCode = 0, headers } = response
    this.#answer ??= { kind: 'answered', status: statusCode, retryAfter: headers['retry-after'] }
  }

  #receive(stream: Request, response: IncomingMessage): void {
    this.#note(response)
    // What follows a 101 is not HTTP, so the connection cannot be reused.
    if (response.statusCode === 101 || Number(response.headers['content-length']) > maxBodyBytes) {
      this.#drop()
      return
    }
    let received = 0
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length
      if (received > maxBodyBytes) this.#drop()
    })
    stream.on('end', () => {
      this.#end()
      if (!this.isSent) setImmediate(() => this.#dropUnsent(stream))
    })
  }

  /**
   * Destroys the connection of a request that was answered before all of it was sent, because it
   * cannot be reused. This runs one event loop iteration later: Node confirms TLS writes only then,
   * and the response may arrive earlier.
   */
  #dropUnsent(stream: Request): void {
    if (!this.isSent) stream.destroy()
  }

  #fail(error: Error): void {
    if (this.#hasEnded) return
    const { connections } = this.#deps
    const isStale = staleCodes.has(codeOf(rootOf(error))) && connections.isUntouchedReuse(this.#request)
    // The request is repeated only once. The second connection is new, so it is never stale.
    if (this.#answer === undefined && isStale) {
      this.#isRepeated = true
      this.start()
      return
    }
    this.#answer ??= failureOf(error, connections.phaseOf(this.#request))
    this.#drop()
  }

  /** Ends the request and destroys its connection. */
  #drop(): void {
    this.#stream?.destroy()
    this.#end()
  }

  #end(): void {
    if (this.#hasEnded || this.#answer === undefined) return
    this.#hasEnded = true
    this.#callEnd.ended(this.#answer)
  }
}
