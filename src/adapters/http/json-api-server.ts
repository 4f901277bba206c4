import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { ConnectionLimiter } from '../../core/network/server-connection-limiter.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { ListenAddress } from '../../core/settings/settings.ts'
import { everyMethod } from './api-paths-and-methods.ts'
import { createMaximumLog, limitConnections, protectRequests } from './close-connections-above-maximum.ts'
import { isPreflight, preflight } from './cors.ts'
import { createNodeServer } from './node-server-with-limits.ts'
import { type Connections, createConnections } from './open-connections.ts'
import { type HttpResponse, problem } from './response-codes-and-bodies.ts'
import { createSend, type Send } from './send-response.ts'
import type { HttpLimits } from './server-limits.ts'

interface Deps {
  readonly listen: ListenAddress
  readonly limits: HttpLimits
  readonly clock: Clock
  readonly logger: Logger
  readonly onAnswer: (answer: HttpResponse) => void
  /**
   * Called when a connection is closed because its address or the server has too many connections.
   */
  readonly onConnectionClosed?: () => void
  /** The methods of a path for the header `Allow`; `undefined` when the path does not exist. */
  readonly methodsOf: (url: string) => string | undefined
  /** Whether pages of other origins may use the path (CORS). */
  readonly isCrossOrigin: (url: string) => boolean
}

export interface HttpServer {
  /**
   * The caller adds the routes. Their handlers respond with `send`, and read the body from
   * `request.raw`.
   */
  readonly app: FastifyInstance
  readonly connections: Connections
  readonly send: Send
  /** Sends a 500 response, and logs the error with the fields in `known`. */
  fail(request: FastifyRequest, reply: FastifyReply, error: unknown, known?: object): void
  /** Starts to listen. Returns `http://host:port` with the actual port. */
  start(): Promise<string>
  /**
   * Stops gracefully: accepts new requests during `limits.acceptAfterStop`, and aborts requests
   * after `limits.drain`. Resolves when all connections are closed.
   */
  stop(): Promise<void>
}

/** Creates a server for JSON APIs, with limits so that no client can block it. */
export function createHttpServer(deps: Deps): HttpServer {
  const { listen, limits, clock, logger, onAnswer, isCrossOrigin } = deps
  const connections = createConnections({ limits, clock, onAnswer })
  const limiter = new ConnectionLimiter<Socket>(limits.connections, limits.connectionsPerAddress)
  const send = createSend({ connections, limits, clock, onAnswer, isCrossOrigin })
  const logMaximum = createMaximumLog(deps)
  const serverFor = (handler: RequestListener): Server => {
    const server = createNodeServer(handler, limits)
    connections.follow(server)
    protectRequests(server, limiter)
    limitConnections(server, limiter, closing => {
      deps.onConnectionClosed?.()
      logMaximum(closing)
    })
    return server
  }
  const app = createApp(
    serverFor,
    (error, request, reply) => send(request, reply, answerToBadUrl(error)),
    limits.headBytes,
  )
  const others: Server[] = []

  app.addHook('onRequest', (request, reply, done) => {
    const refusal = refusalOf(request.raw, limits)
    if (refusal === undefined) done()
    else send(request, reply, refusal)
  })
  app.options('*', (request, reply) => send(request, reply, answerToOptions(request.raw, deps)))
  app.setNotFoundHandler((request, reply) => send(request, reply, answerToUnknown(request.raw, deps)))
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // fastify throws this error for a request method that it does not support.
    if (error.code === 'FST_ERR_NOT_FOUND') send(request, reply, answerToUnknown(request.raw, deps))
    else fail(request, reply, error)
  })

  function fail(request: FastifyRequest, reply: FastifyReply, error: unknown, known: object = {}): void {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    logger.error(
      { route: request.routeOptions.url, ...known, error: message, stack },
      'hookline could not process an HTTP request because of a bug in hookline, and responds with 500 (report this line)',
    )
    send(request, reply, problem('internal_error', 'An internal error occurred: send the request again later.'))
  }

  return {
    app,
    connections,
    send,
    fail,
    async start() {
      const url = await app.listen({ host: listen.host, port: listen.port })
      if (listen.host === 'localhost') others.push(...(await listenBeside(app, serverFor, logger)))
      return url
    },
    async stop() {
      const cancel = clock.after(limits.drain, connections.closeAll)
      await connections.closeAfterNextResponse()
      connections.closeIdle()
      await Promise.all([app.close(), ...others.map(server => once(server.close(), 'close'))])
      cancel()
    },
  }
}

type ServerFor = (handler: RequestListener) => Server

function createApp(
  serverFactory: ServerFor,
  frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => void,
  maxHeadBytes: number,
): FastifyInstance {
  const app = fastify({
    serverFactory,
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: maxHeadBytes },
    // open-connections.ts handles invalid HTTP and timeouts, because it knows the other requests on
    // the connection.
    clientErrorHandler: () => {},
    frameworkErrors,
  })
  // Handlers read bodies themselves. fastify would refuse unknown content types.
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  return app
}

/**
 * Listens on the addresses of `localhost` on which `app` does not listen yet, because some clients
 * try IPv4 first and others IPv6. Skips an address that is not available.
 */
async function listenBeside(app: FastifyInstance, serverFor: ServerFor, logger: Logger): Promise<readonly Server[]> {
  const { address: taken, port } = app.server.address() as AddressInfo
  const listening: Server[] = []
  for (const { address } of await lookup('localhost', { all: true })) {
    if (address === taken) continue
    const server = serverFor((request, response) => app.routing(request, response))
    try {
      await once(server.listen({ host: address, port }), 'listening')
      listening.push(server)
    } catch (error) {
      logger.warn(
        { address, port, error: String(error) },
        'an HTTP server of this process cannot listen on one address of localhost (see "address", "port" and "error"), but listens on the others; if clients need this address, correct the cause, and restart the process',
      )
    }
  }
  return listening
}

/** Checks the HTTP version and the headers. Returns the error response if a check fails. */
function refusalOf(request: IncomingMessage, limits: HttpLimits): HttpResponse | undefined {
  const { rawHeaders, headers, httpVersionMajor, httpVersionMinor } = request
  if (httpVersionMajor !== 1) return problem('malformed_request', 'This HTTP version is not supported: use HTTP/1.1.')
  if (rawHeaders.length > 2 * limits.headFields)
    return problem('headers_too_large', `The request has more than ${limits.headFields} header fields: send fewer.`)
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && /^host$/i.test(name)).length
  // RFC 9112 3.2 requires exactly one Host header. HTTP/1.0 may omit it.
  if (hosts > 1 || (hosts === 0 && httpVersionMinor === 1))
    return problem('malformed_request', `The request has ${hosts} Host headers: send exactly one.`)
  if (headers.expect !== undefined && httpVersionMinor === 1 && !/^100-continue$/i.test(headers.expect))
    return problem(
      'expectation_failed',
      "This Expect header is not supported: send 'Expect: 100-continue', or omit the header.",
    )
  return undefined
}

function answerToOptions(request: IncomingMessage, { methodsOf, isCrossOrigin }: Deps): HttpResponse {
  const { url = '' } = request
  const methods = url === '*' ? everyMethod : methodsOf(url)
  if (methods === undefined) return notFound()
  return isPreflight(request.headers) && isCrossOrigin(url)
    ? { code: 'preflight', status: 204, headers: preflight(request.headers, methods), body: '' }
    : { code: 'ok', status: 204, headers: { allow: methods }, body: '' }
}

function answerToUnknown({ method, url = '' }: IncomingMessage, { methodsOf }: Deps): HttpResponse {
  const allow = methodsOf(url)
  if (allow === undefined) return notFound()
  const usable = allow.replace(/, OPTIONS|OPTIONS, /, '').replace(/, (\w+)$/, ' or $1')
  return problem('method_not_allowed', `This path does not support ${method}: use ${usable}.`, { allow })
}

const answerToBadUrl = ({ code }: FastifyError): HttpResponse =>
  code === 'FST_ERR_BAD_URL'
    ? problem('malformed_request', 'The path is not a valid URL path: check its percent-encoding.')
    : notFound()

const notFound = (): HttpResponse => problem('not_found', 'This path does not exist: see /openapi.json for the paths.')
