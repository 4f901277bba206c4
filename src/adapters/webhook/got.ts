import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import got, { type Request } from 'got'
import { type UrlParts, urlParts } from '../../core/network/url.ts'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/ports.ts'
import { type Agents, createAgents } from './agents.ts'
import { AnswerTooLong, codeOf, failureOf, rootOf, timeIsOver } from './call-failure.ts'
import { maxBodyBytes, maxHeadBytes, maxInterimAnswers, staleCodes } from './client-limits.ts'
import { type ConnectionsProgress, createConnectionsProgress } from './connection-progress.ts'
import { type CallEnd, createTransport, type Exchange, type TransportDeps } from './transport.ts'

/** Turns off what got does by itself: redirects, retries, decompression, errors for statuses. */
const client = got.extend({
  method: 'POST',
  followRedirect: false,
  retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [] },
  decompress: false,
  throwHttpErrors: false,
})

/** Calls webhooks with got over kept-alive connections. */
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
 * Caches parsed URLs. They come from the configuration, so they are few; got refuses other schemes
 * first.
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
 * Sends a request, waits for the head of the answer, and reads a little of its body.
 *
 * The body is written to the stream: as an option got would encode it again, send it in pieces and
 * destroy the connection when the answer arrives between two of them. The request is made here, by
 * got's option `request`, so that header names keep their case and got adds none.
 */
class GotExchange implements Exchange {
  readonly #call: WebhookCall
  readonly #deps: ExchangeDeps
  readonly #callEnd: CallEnd
  #stream: Request | undefined
  #request: ClientRequest | undefined
  /** Set when the head of the answer is complete; nothing changes it afterwards. */
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
    // Node emits no response for a 101 that names a protocol.
    stream.on('upgrade', (response: IncomingMessage) => {
      this.#note(response)
      this.#drop()
    })
    stream.end(this.#call.body)
  }

  expire(after: string): void {
    this.#answer ??= timeIsOver(this.#deps.connections.phaseOf(this.#request), after)
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
      if (++interim > maxInterimAnswers) this.#fail(new AnswerTooLong(`more than ${maxInterimAnswers} interim answers`))
    })
    this.#request = request
    return request
  }

  /**
   * A list: Node writes it immediately, while it stores the headers of an object one by one first.
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
    // No HTTP follows a 101.
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
   * Destroys the connection of a request that was answered before all of it was sent: it cannot be
   * used again. Called one event loop turn later, because Node confirms what is written over TLS
   * only then, and the answer may arrive before.
   */
  #dropUnsent(stream: Request): void {
    if (!this.isSent) stream.destroy()
  }

  #fail(error: Error): void {
    if (this.#hasEnded) return
    const { connections } = this.#deps
    const isStale = staleCodes.has(codeOf(rootOf(error))) && connections.isUntouchedReuse(this.#request)
    // Once only: the second connection is a fresh one, which is never stale.
    if (this.#answer === undefined && isStale) {
      this.#isRepeated = true
      this.start()
      return
    }
    this.#answer ??= failureOf(error, connections.phaseOf(this.#request))
    this.#drop()
  }

  /** Ends the exchange and destroys its connection. */
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
