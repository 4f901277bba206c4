import type { TrackingApi } from '../../core/collector/tracking-api.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { ListenAddress } from '../../core/settings/settings.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import { documentPath, isOperatorUrl, methodsOf, settingsPath, trackingPaths } from './api-paths-and-methods.ts'
import { addDeletionAndSyncRoutes, type GuardedOperatorApi } from './deletion-and-sync-routes.ts'
import { createHttpServer } from './json-api-server.ts'
import { openApiDocument } from './openapi-tracking.ts'
import { createRunInSpan } from './request-span.ts'
import { type HttpResponse, inBytes, ok, problem } from './response-codes-and-bodies.ts'
import { defaultLimits, type HttpLimits } from './server-limits.ts'
import { createTrackingHandler } from './tracking-request-handler.ts'

interface Deps {
  readonly listen: ListenAddress
  readonly api: TrackingApi
  /** Deprecated: the operator API on this listener; `undefined` when it is off. */
  readonly operator?: GuardedOperatorApi | undefined
  /** Maximum bytes of a body, both as sent and unpacked. */
  readonly maxBodyBytes: number
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'collectorAnswers' | 'collectorBodiesRefused'>
  /**
   * The header in which a proxy sends the client's address. If `undefined`, the address of the
   * connection is used.
   */
  readonly clientAddressHeader?: string | undefined
  readonly limits?: Partial<HttpLimits>
  readonly tracer?: Tracer | undefined
}

/** The HTTP server of the collector. */
export interface CollectorServer {
  /** Starts to listen. Returns `http://host:port` with the actual port. */
  start(): Promise<string>
  /** Stops gracefully, as `HttpServer` of json-api-server.ts does. */
  stop(): Promise<void>
}

export function createCollectorServer(deps: Deps): CollectorServer {
  const { api, maxBodyBytes, clock, metrics, tracer, clientAddressHeader } = deps
  const limits = { ...defaultLimits, ...deps.limits }
  const onAnswer = ({ code }: HttpResponse): void => metrics.collectorAnswers.inc({ code })
  const onRefused = (cause: 'connections' | 'address' | 'slow'): void => metrics.collectorBodiesRefused.inc({ cause })
  // Behind a proxy, all connections have the proxy's address. `limits.connectionsPerAddress` then
  // limits the requests in progress of each client instead of the connections.
  const connectionsPerAddress = clientAddressHeader === undefined ? limits.connectionsPerAddress : limits.connections
  const server = createHttpServer({
    ...deps,
    limits: { ...limits, connectionsPerAddress },
    onAnswer,
    onConnectionClosed: () => onRefused('connections'),
    methodsOf,
    isCrossOrigin: url => !isOperatorUrl(url),
  })
  const { app, connections, send, fail, start, stop } = server
  const runInSpan = createRunInSpan(tracer, fail)

  const handle = createTrackingHandler({ ...deps, limits, connections, onRefused })

  for (const { path, type } of trackingPaths) {
    app.post(path, (request, reply) => {
      runInSpan(path, { request, reply }, (trace, keepSpan) => handle({ request, reply, type, trace, keepSpan })).then(
        answer => answer && send(request, reply, answer),
        error => fail(request, reply, error),
      )
    })
  }
  app.get<{ Params: { writeKey: string } }>(settingsPath, (request, reply) => {
    const { writeKey } = request.params
    send(request, reply, api.isWriteKey(writeKey) ? settingsFor(writeKey) : unknownKey())
  })
  addDeletionAndSyncRoutes({
    ...server,
    runInSpan,
    operator: deps.operator,
    memory: api,
    maxBodyBytes,
    limits,
    clock,
  })
  const document = inBytes(ok(JSON.stringify(openApiDocument())))
  app.get(documentPath, (request, reply) => send(request, reply, document))
  return { start, stop }
}

/** The settings that browser and mobile SDKs fetch first. Without them, these SDKs send nothing. */
const settingsFor = (apiKey: string): HttpResponse => ok(JSON.stringify({ integrations: { 'Segment.io': { apiKey } } }))

const unknownKey = (): HttpResponse =>
  problem('not_found', 'No source has this write key: correct the key, or add it to a source.')
