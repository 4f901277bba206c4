import type { TrackingApi } from '../../core/collector/tracking-api.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { ListenAddress } from '../../core/settings/settings.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import { type Answer, ok, problem } from './answers.ts'
import { createHttpServer } from './http-server.ts'
import { createIngest } from './ingest.ts'
import { openApiDocument } from './openapi.ts'
import { addOperatorRoutes, type Operator } from './operator-routes.ts'
import { documentPath, ingestPaths, isOperatorUrl, methodsOf, settingsPath } from './paths.ts'
import { defaultLimits, type HttpLimits } from './server-limits.ts'
import { createTakeTraced } from './traced.ts'

interface Deps {
  readonly listen: ListenAddress
  readonly api: TrackingApi
  /** Deprecated: the operator API on this listener. Undefined: it is off here. */
  readonly operator?: Operator | undefined
  /** Largest body, as sent and unpacked. */
  readonly maxBodyBytes: number
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'collectorAnswers' | 'collectorBodiesRefused'>
  /** Names the address of a client; undefined: it is that of the connection. */
  readonly clientAddressHeader?: string | undefined
  readonly limits?: Partial<HttpLimits>
  readonly tracer?: Tracer | undefined
}

/** The HTTP side of the collector: routes, and everything about bytes on the wire. */
export interface TrackingServer {
  /** `http://host:port`, with the port that was really taken. */
  start(): Promise<string>
  /** Lets each connection bring one more request, answers what is under way, takes no more; resolves when all connections are closed. */
  stop(): Promise<void>
}

export function createTrackingServer(deps: Deps): TrackingServer {
  const { api, maxBodyBytes, clock, metrics, tracer, clientAddressHeader } = deps
  const limits = { ...defaultLimits, ...deps.limits }
  const onAnswer = ({ code }: Answer): void => metrics.collectorAnswers.inc({ code })
  const onRefused = (cause: 'connections' | 'address' | 'slow'): void => metrics.collectorBodiesRefused.inc({ cause })
  // Behind a proxy all connections have its address: there the requests of each client are counted.
  const connectionsPerAddress = clientAddressHeader === undefined ? limits.connectionsPerAddress : limits.connections
  const server = createHttpServer({
    ...deps,
    limits: { ...limits, connectionsPerAddress },
    onAnswer,
    onConnectionRefused: () => onRefused('connections'),
    methodsOf,
    isCrossOrigin: url => !isOperatorUrl(url),
  })
  const { app, connections, send, fail, start, stop } = server
  const takeTraced = createTakeTraced(tracer, fail)

  const take = createIngest({ ...deps, limits, connections, onRefused })

  for (const { path, type } of ingestPaths) {
    app.post(path, (request, reply) => {
      takeTraced(path, { request, reply }, trace => take({ request, reply, type, trace })).then(
        answer => answer && send(request, reply, answer),
        error => fail(request, reply, error),
      )
    })
  }
  app.get<{ Params: { writeKey: string } }>(settingsPath, (request, reply) => {
    const { writeKey } = request.params
    send(request, reply, api.isWriteKey(writeKey) ? settingsFor(writeKey) : unknownKey())
  })
  addOperatorRoutes({ ...server, takeTraced, operator: deps.operator, memory: api, maxBodyBytes, limits, clock })
  const document = ok(JSON.stringify(openApiDocument()))
  app.get(documentPath, (request, reply) => send(request, reply, document))
  return { start, stop }
}

/** What SDKs for browsers and mobile apps ask for first: without it they send nothing. */
const settingsFor = (apiKey: string): Answer => ok(JSON.stringify({ integrations: { 'Segment.io': { apiKey } } }))

const unknownKey = (): Answer => problem('not_found', 'No source has this write key.')
