import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import got, { type Request } from 'got'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/ports.ts'
import { type Agents, createAgents } from './agents.ts'
import { type Connections, createConnections } from './connections.ts'
import { AnswerTooLong, codeOf, failureOf, rootOf, timeIsOver } from './failure.ts'
import { maxBodyBytes, maxHeadBytes, maxInterimAnswers, staleCodes } from './limits.ts'
import { type CallEnd, createTransport, type Exchange, type TransportDeps } from './transport.ts'
import { type UrlParts, urlParts } from './url-parts.ts'

/** Everything that got does by itself is off: redirects, retries, decompression, errors for statuses. */
const client = got.extend({
  method: 'POST',
  followRedirect: false,
  retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [] },
  decompress: false,
  throwHttpErrors: false,
  mutableDefaults: true,
})
// got copies them for each request, name by name, though none of them is set: the request is made here.
client.defaults.options.https = {}
client.defaults.options.cacheOptions = {}

/** In place of what got would write down about each request by eight listeners, unless somebody does already: nobody asks for it. */
const timings = { phases: {} }

/** Calls webhooks with got over kept-alive connections. */
export function createGotTransport(deps: TransportDeps): WebhookTransport {
  return createTransport(deps, ({ network, resolve, clock }) => {
    const connections = createConnections(clock)
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
  readonly connections: Connections
  readonly partsOf: (url: string) => UrlParts
}

/** URLs come from the configuration only: they are few; got has refused those that are not of HTTP before it asks for a request. */
function rememberedParts(): ExchangeDeps['partsOf'] {
  const known = new Map<string, UrlParts>()
  return url => {
    const parts = known.get(url) ?? (urlParts(url) as UrlParts)
    known.set(url, parts)
    return parts
  }
}

/**
 * Sends, waits for the head of the answer, reads a little of its body.
 *
 * The body goes in through the stream: given as an option got would encode it anew, send it in pieces and, when the
 * answer comes between two of them, destroy the connection. The request is made here, so that names of headers keep
 * their case and got adds none: `request` is got's own option for that.
 */
class GotExchange implements Exchange {
  readonly #call: WebhookCall
  readonly #deps: ExchangeDeps
  readonly #callEnd: CallEnd
  #stream: Request | undefined
  #request: ClientRequest | undefined
  /** Known from the complete head on: then nothing changes it. */
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
    // A 101 that names a protocol is no response to Node.
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
      ...{ method: 'POST', hostname, port, path, headers: this.#headers(host) },
      ...{ maxHeaderSize: maxHeadBytes, agent: isTls ? agents.https : agents.http },
    })
    Object.assign(request, { timings })
    let interim = 0
    request.on('information', () => {
      if (++interim > maxInterimAnswers) this.#fail(new AnswerTooLong(`more than ${maxInterimAnswers} interim answers`))
    })
    this.#request = request
    return request
  }

  /** As a list, of which Node writes the head at once; in an object it keeps them one by one before. */
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
    // After a 101 comes no HTTP any more.
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
      // Behind what Node still has to say of the request: that it is closed.
      if (this.isSent) process.nextTick(letGo, stream)
      else setImmediate(() => this.#finish(stream))
    })
  }

  /**
   * Node confirms what is written over TLS one turn of the event loop later, and an answer may come before that; then Node's agent
   * keeps the connection. A request that is not confirmed by then was answered before all of it was sent: its connection cannot be used again.
   */
  #finish(stream: Request): void {
    if (this.isSent) letGo(stream)
    else stream.destroy()
  }

  #fail(error: Error): void {
    const { connections } = this.#deps
    const isStale = staleCodes.has(codeOf(rootOf(error))) && connections.isUntouchedReuse(this.#request)
    // Once only: the second time the connection is a fresh one, which is never stale.
    if (this.#answer === undefined && isStale) {
      this.#isRepeated = true
      this.start()
      return
    }
    this.#answer ??= failureOf(error, connections.phaseOf(this.#request))
    this.#drop()
  }

  /** Ends and gives the connection up. */
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

const cut = {
  options: undefined,
  response: undefined,
  _request: undefined,
  _cancelTimeouts: undefined,
  _unproxyEvents: undefined,
}
const ignore = (): void => undefined

/**
 * V8 takes a function that Node makes for each stream for one that stays: it is old from the start, and what it leads to gets old with it,
 * 12 KB a call, until the old space is collected (decision 43). So a stream that has ended leads nowhere any more. What still happens to a
 * request that is no longer its own got passes over.
 */
function letGo(stream: Request): void {
  stream.removeAllListeners().on('error', ignore)
  Object.assign(stream, cut)
}
