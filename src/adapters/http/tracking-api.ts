import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CallType } from '../../core/message/message.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { OperatorApi } from '../../core/operator-api.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { ListenAddress } from '../../core/settings.ts'
import type { TraceContext, Tracer } from '../../core/trace/tracer.ts'
import type { TrackingApi } from '../../core/tracking-api.ts'
import { type Answer, accepted, ok, problem, refused } from './answers.ts'
import { readBody } from './body.ts'
import { createHttpServer } from './http-server.ts'
import { defaultLimits, type HttpLimits } from './limits.ts'
import { createReservation } from './memory.ts'
import { openApiDocument } from './openapi.ts'
import { addOperatorRoutes } from './operator-api.ts'
import { documentPath, ingestPaths, methodsOf, settingsPath } from './paths.ts'
import { createTakeTraced } from './traced.ts'
import { headerKeyOf, queryKeyOf } from './write-key.ts'

interface Deps {
  readonly listen: ListenAddress
  readonly api: TrackingApi
  /** Undefined: no operator key is configured. */
  readonly operator?: OperatorApi | undefined
  /** Largest body, as sent and unpacked. */
  readonly maxBodyBytes: number
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'collectorAnswers'>
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
  const { api, maxBodyBytes, clock, metrics, tracer } = deps
  const limits = { ...defaultLimits, ...deps.limits }
  const onAnswer = ({ code }: Answer): void => metrics.collectorAnswers.inc({ code })
  const server = createHttpServer({ ...deps, limits, onAnswer, methodsOf })
  const { app, connections, send, fail, start, stop } = server
  const takeTraced = createTakeTraced(tracer, fail)

  /** Undefined: the sender has gone. */
  async function take(
    { raw, query }: FastifyRequest,
    reply: FastifyReply,
    type: CallType | undefined,
    trace: TraceContext | undefined,
  ): Promise<Answer | undefined> {
    const receivedAt = clock.now()
    const memory = createReservation(api)
    try {
      const connection = connections.of(raw)
      const { progress } = limits
      const body = await readBody(raw, reply.raw, { maxBytes: maxBodyBytes, memory, progress, clock, connection })
      if (body.kind === 'gone') return undefined
      if (body.kind === 'refused') return body.answer
      const answer = await api.accept({
        type,
        headerKey: headerKeyOf(raw),
        queryKey: queryKeyOf(query),
        body: body.text,
        strict: raw.headers['x-strict-mode'] === '1',
        receivedAt,
        trace,
      })
      return answer.kind === 'accepted' ? accepted(answer.rejected) : refused(answer)
    } finally {
      memory.giveBack()
    }
  }

  for (const { path, type } of ingestPaths) {
    app.post(path, (request, reply) => {
      takeTraced(path, { request, reply }, trace => take(request, reply, type, trace)).then(
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
