import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import got, { type Request } from 'got'
import { type UrlParts, urlParts } from '../../core/network/url.ts'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/webhook-ports.ts'
import { codeOf, failureOf, rootOf, timeoutResult } from './call-failure.ts'
import { type ConnectionPhase, type ConnectionsProgress, createConnectionsProgress } from './connection-progress.ts'
import { type Agents, createAgents, type TunnelOption } from './got-agents.ts'
import { maxBodyBytes, maxHeadBytes, maxInterimResponses, ResponseTooLong, staleCodes } from './http-client-limits.ts'
import { KeptBody } from './kept-body.ts'
import type { OpeningTunnel } from './proxy-tunnel.ts'
import { type CallEnd, createTransport, type Exchange, type TransportDeps } from './transport-for-any-http-client.ts'

const client = got.extend({
  method: 'POST',
  followRedirect: false,
  retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [] },
  decompress: false,
  throwHttpErrors: false,
})

/** Creates a transport that uses got and keeps connections open. */
export function createGotTransport(deps: TransportDeps): WebhookTransport {
  return createTransport(deps, ({ network, resolve, clock }) => {
    const connections = createConnectionsProgress(clock)
    const agents = createAgents({ network, resolve, connections, clock })
    const deps = { agents, connections, partsOf: rememberedParts() }
    return {
      exchange: (call, end) => new GotExchange(call, deps, end),
      hasIdleConnection({ url, tlsIdentity }) {
        const parts = deps.partsOf(url)
        return parts === undefined || agents.hasIdle(parts, tlsIdentity)
      },
      close: () => agents.close(),
    }
  })
}

interface ExchangeDeps {
  readonly agents: Agents
  readonly connections: ConnectionsProgress
  /** Returns the parts of a URL; `undefined` if the text is not an HTTP or HTTPS URL. */
  readonly partsOf: (url: string) => UrlParts | undefined
}

/** Caches parsed URLs. They come from the configuration, so their number is limited. */
function rememberedParts(): ExchangeDeps['partsOf'] {
  const known = new Map<string, UrlParts | undefined>()
  return url => {
    if (!known.has(url)) known.set(url, urlParts(url))
    return known.get(url)
  }
}

/**
 * A request with got. This class writes the body to got's stream: with the option `body`, got would
 * send the body in chunks, and destroy the connection if a response came between two chunks. This
 * class creates Node's request itself (option `request`), because got would add headers and change
 * the case of header names.
 */
class GotExchange implements Exchange {
  readonly #call: WebhookCall
  readonly #deps: ExchangeDeps
  readonly #callEnd: CallEnd
  #stream: Request | undefined
  #request: ClientRequest | undefined
  /** The tunnel that was opened for the current request. */
  #tunnel: OpeningTunnel | undefined
  /** The result: the response head, an error or the deadline, whichever comes first. */
  #answer: CallResult | undefined
  /** The first `keepBodyBytes` bytes of the body; `undefined` if the caller does not need them. */
  #kept: KeptBody | undefined
  /**
   * Returned by `Agents.reserveIdle`. Called when the agent gets the request, or the request ends.
   */
  #endReservation: (() => void) | undefined
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
    this.#tunnel = undefined
    const parts = this.#deps.partsOf(this.#call.url)
    if (parts !== undefined && !this.#isRepeated) this.#endReservation = this.#deps.agents.reserveIdle(parts)
    const stream = client.stream(this.#call.url, { request: () => this.#send() })
    this.#stream = stream
    stream.on('error', error => this.#fail(error))
    stream.on('response', (response: IncomingMessage) => this.#receive(stream, response))
    // For a status 101 with an `Upgrade` header, Node emits `upgrade` in place of `response`.
    stream.on('upgrade', (response: IncomingMessage) => {
      this.#note(response)
      this.#drop()
    })
    stream.end(this.#call.body)
  }

  expire(after: string): void {
    this.#answer ??= timeoutResult(this.#phase, after)
    this.#drop()
  }

  /**
   * The phase of the request's connection. While a tunnel is being opened, the request has no
   * socket yet, so the phase is that of the tunnel.
   */
  get #phase(): ConnectionPhase {
    const tunnel = this.#request?.socket ? undefined : this.#tunnel
    return tunnel?.phase ?? this.#deps.connections.phaseOf(this.#request)
  }

  #send(): ClientRequest {
    const { tlsIdentity } = this.#call
    const agents = this.#isRepeated ? this.#deps.agents.fresh(tlsIdentity) : this.#deps.agents.shared(tlsIdentity)
    // got has already rejected URLs that are not HTTP or HTTPS.
    const { isTls, host, hostname, port, path } = this.#deps.partsOf(this.#call.url) as UrlParts
    const options: http.RequestOptions & TunnelOption = {
      method: 'POST',
      hostname,
      port,
      path,
      headers: this.#headers(host),
      maxHeaderSize: maxHeadBytes,
      agent: isTls ? agents.https : agents.http,
      onTunnel: tunnel => {
        this.#tunnel = tunnel
      },
    }
    const request = (isTls ? https : http).request(options)
    this.#endReservation?.()
    let interim = 0
    request.on('information', () => {
      if (++interim > maxInterimResponses)
        this.#fail(new ResponseTooLong(`the endpoint sent more than ${maxInterimResponses} interim (1xx) responses`))
    })
    const { onConnected } = this.#call
    // `finish` comes when the whole request is written, so its connection is open.
    if (onConnected !== undefined) request.once('finish', onConnected)
    this.#request = request
    return request
  }

  /** Returns the headers as an array, which Node writes directly. */
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
    const { keepBodyBytes } = this.#call
    const { 'content-length': length, 'content-encoding': encoding } = response.headers
    if (keepBodyBytes !== undefined) this.#kept = new KeptBody(keepBodyBytes, encoding)
    // The bytes after a status 101 are not HTTP, and a long body is not read, so the connection
    // cannot be reused.
    if (response.statusCode === 101 || (Number(length) > maxBodyBytes && keepBodyBytes === undefined)) {
      this.#drop()
      return
    }
    let received = 0
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length
      this.#kept?.add(chunk)
      if (received > maxBodyBytes) this.#drop()
    })
    stream.on('end', () => {
      if (this.#kept !== undefined) this.#kept.isComplete = true
      this.#end()
      if (!this.isSent) setImmediate(() => this.#dropUnsent(stream))
    })
  }

  /**
   * Destroys the connection if the response arrived before the whole request was sent. Call it one
   * event loop iteration after the response, because Node may confirm a TLS write only then.
   */
  #dropUnsent(stream: Request): void {
    if (!this.isSent) stream.destroy()
  }

  #fail(error: Error): void {
    if (this.#hasEnded) return
    const { connections } = this.#deps
    const isStale = staleCodes.has(codeOf(rootOf(error))) && connections.isUntouchedReuse(this.#request)
    // The server has probably closed the idle connection before it read the request. The request is
    // repeated once, on a new connection.
    if (this.#answer === undefined && isStale) {
      this.#isRepeated = true
      this.start()
      return
    }
    this.#answer ??= failureOf(error, this.#phase)
    this.#drop()
  }

  /** Ends the request and destroys its connection. */
  #drop(): void {
    this.#stream?.destroy()
    this.#tunnel?.cancel()
    this.#end()
  }

  #end(): void {
    if (this.#hasEnded || this.#answer === undefined) return
    this.#hasEnded = true
    this.#endReservation?.()
    this.#callEnd.ended(this.#kept?.addTo(this.#answer) ?? this.#answer)
  }
}
