import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Clock, Logger } from '../../core/ports.ts'
import type { ListenAddress } from '../../core/settings/settings.ts'
import { type Answer, problem } from './answers.ts'
import { AddressCounter, limitAddresses } from './client-address.ts'
import { isPreflight, preflight } from './cors.ts'
import { createNodeServer } from './node-server.ts'
import { type Connections, createConnections, everyMethod } from './open-connections.ts'
import { createSend, type Send } from './sending.ts'
import type { HttpLimits } from './server-limits.ts'

interface Deps {
  readonly listen: ListenAddress
  readonly limits: HttpLimits
  readonly clock: Clock
  readonly logger: Logger
  readonly onAnswer: (answer: Answer) => void
  /** A connection was closed because its address has its maximum. */
  readonly onConnectionRefused?: () => void
  /** The methods of a path as in `Allow`; undefined: no such path. */
  readonly methodsOf: (url: string) => string | undefined
  /** Whether pages of other origins may ask this path (CORS). */
  readonly isCrossOrigin: (url: string) => boolean
}

export interface HttpServer {
  /** For routes; their handlers answer with `send` and take the body from `request.raw`. */
  readonly app: FastifyInstance
  readonly connections: Connections
  readonly send: Send
  /** Our fault: says so, and writes the error to the log, with what else is known. */
  fail(request: FastifyRequest, reply: FastifyReply, error: unknown, known?: object): void
  /** `http://host:port`, with the port that was really taken. */
  start(): Promise<string>
  /** Lets each connection bring one more request, answers what is under way, takes no more; resolves when all connections are closed. */
  stop(): Promise<void>
}

/**
 * A server of JSON on which nobody can sit: heads, bodies, connections and waits are bounded, and whatever goes wrong is
 * answered with a code, a message and the right status.
 */
export function createHttpServer(deps: Deps): HttpServer {
  const { listen, limits, clock, logger, onAnswer, isCrossOrigin } = deps
  const connections = createConnections({ limits, clock, onAnswer })
  const addresses = new AddressCounter(limits.connectionsPerAddress)
  const send = createSend({ connections, limits, clock, onAnswer, isCrossOrigin })
  const onDrop = logDrops(deps)
  const serverFor = (handler: RequestListener): Server => {
    const server = createNodeServer(handler, limits).on('drop', onDrop)
    connections.follow(server)
    limitAddresses(server, addresses, deps.onConnectionRefused)
    return server
  }
  const app = createApp(serverFor, (error, request, reply) => send(request, reply, answerToBadUrl(error)))
  const others: Server[] = []

  app.addHook('onRequest', (request, reply, done) => {
    const refusal = refusalOf(request.raw, connections.of(request.raw).underWay, limits)
    if (refusal === undefined) done()
    else send(request, reply, refusal)
  })
  app.options('*', (request, reply) => send(request, reply, answerToOptions(request.raw, deps)))
  app.setNotFoundHandler((request, reply) => send(request, reply, answerToUnknown(request.raw, deps)))
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // What is said of methods that only other protocols have.
    if (error.code === 'FST_ERR_NOT_FOUND') send(request, reply, answerToUnknown(request.raw, deps))
    else fail(request, reply, error)
  })

  function fail(request: FastifyRequest, reply: FastifyReply, error: unknown, known: object = {}): void {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    logger.error({ route: request.routeOptions.url, ...known, error: message, stack }, 'request failed')
    send(request, reply, problem('internal_error', 'Something went wrong here: send the request again later.'))
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
      await connections.lastCall()
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
): FastifyInstance {
  const app = fastify({
    serverFactory,
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 500 },
    // Answered in open-connections.ts, which knows what else is in progress on the connection.
    clientErrorHandler: () => {},
    frameworkErrors,
  })
  // Bodies are read by the handlers, by content: fastify would go by Content-Type, and refuse one that it cannot read.
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  return app
}

/** `localhost` has an address of each family, and clients try either first. One that cannot be had is no failure. */
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
      logger.warn({ address, port, error: String(error) }, 'localhost has an address that cannot be listened on')
    }
  }
  return listening
}

const dropsLoggedEveryMs = 60_000

function logDrops({ limits, clock, logger }: Deps): () => void {
  let dropped = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return () => {
    dropped += 1
    if (clock.monotonic() - loggedAt < dropsLoggedEveryMs) return
    loggedAt = clock.monotonic()
    logger.warn({ connections: limits.connections, dropped }, 'too many connections: new ones are dropped')
  }
}

/** What is wrong with a request whatever its path is. */
function refusalOf(request: IncomingMessage, underWay: number, limits: HttpLimits): Answer | undefined {
  const { rawHeaders, headers, httpVersionMajor, httpVersionMinor } = request
  if (httpVersionMajor !== 1) return problem('malformed_request', 'Only HTTP/1.1 and HTTP/1.0 are spoken here.')
  if (rawHeaders.length > 2 * limits.headFields)
    return problem('headers_too_large', `The request has more than ${limits.headFields} header fields: send fewer.`)
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && /^host$/i.test(name)).length
  // RFC 9112 3.2
  if (hosts > 1 || (hosts === 0 && httpVersionMinor === 1))
    return problem('malformed_request', `A request needs one Host header; this one has ${hosts}.`)
  if (headers.expect !== undefined && httpVersionMinor === 1 && !/^100-continue$/i.test(headers.expect))
    return problem('expectation_failed', "The only expectation that is met is '100-continue'.")
  if (underWay > limits.pipelined)
    return problem('unavailable', 'Too many requests wait on this connection: send this one again later.')
  return undefined
}

function answerToOptions(request: IncomingMessage, { methodsOf, isCrossOrigin }: Deps): Answer {
  const { url = '' } = request
  const methods = url === '*' ? everyMethod : methodsOf(url)
  if (methods === undefined) return notFound()
  return isPreflight(request.headers) && isCrossOrigin(url)
    ? { code: 'preflight', status: 204, headers: preflight(request.headers, methods), body: '' }
    : { code: 'ok', status: 204, headers: { allow: methods }, body: '' }
}

function answerToUnknown({ method, url = '' }: IncomingMessage, { methodsOf }: Deps): Answer {
  const allow = methodsOf(url)
  if (allow === undefined) return notFound()
  return problem('method_not_allowed', `${method} does nothing here: use ${allow.replace(', OPTIONS', '')}.`, { allow })
}

const answerToBadUrl = ({ code }: FastifyError): Answer =>
  code === 'FST_ERR_BAD_URL' ? problem('malformed_request', 'The path is no valid URL path.') : notFound()

const notFound = (): Answer =>
  problem('not_found', 'There is nothing at this path: see /openapi.json for what there is.')
