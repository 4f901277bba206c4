import { MemoryBudget } from '../../core/collector/memory-budget.ts'
import type { JobsApi } from '../../core/jobs/jobs-api.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { ListAudiences } from '../../core/operator/audience-view.ts'
import type { AuditLog } from '../../core/operator/audit-log.ts'
import { FailureThrottle } from '../../core/operator/authentication-failure-throttle.ts'
import type { DeletionAndAudienceApi } from '../../core/operator/deletion-and-audience-api.ts'
import type { ReadLedger } from '../../core/operator/ledger-query-and-view.ts'
import type { MessageAndDeadLetterApi } from '../../core/operator/message-and-dead-letter-api.ts'
import type { ObjectsApi } from '../../core/operator/objects-api.ts'
import type { FindOperatorKey } from '../../core/operator/operator-keys.ts'
import type { OperatorSessions } from '../../core/operator/signed-session-tokens.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { ListenAddress } from '../../core/settings/settings.ts'
import type { PublishedKeys } from '../../core/signing/ed25519-signing-key.ts'
import { durationMs } from '../../core/time.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import { documentPath, keysPath, operatorMethodsOf } from './api-paths-and-methods.ts'
import { createGuard } from './authenticate-and-audit-requests.ts'
import { addConsoleRoutes } from './console-routes.ts'
import { addDeletionAndSyncRoutes } from './deletion-and-sync-routes.ts'
import { addJobRoutes } from './job-routes.ts'
import { createHttpServer, type HttpServer } from './json-api-server.ts'
import type { RequestBodyDeps } from './json-object-body.ts'
import { addLedgerRoute } from './ledger-route.ts'
import { addListAudiencesRoute } from './list-audiences-route.ts'
import { addMessageAndDeadLetterRoutes } from './message-and-dead-letter-routes.ts'
import { addObjectRoutes } from './object-and-status-routes.ts'
import { operatorDocument } from './openapi-operator.ts'
import { createOperatorAuthentication } from './operator-authentication.ts'
import { createRunInSpan } from './request-span.ts'
import { type HttpResponse, inBytes, ok } from './response-codes-and-bodies.ts'
import { defaultLimits, type HttpLimits } from './server-limits.ts'
import { addSessionRoutes } from './session-routes.ts'

/** These limits are lower than the defaults: operators are few, and most requests are small. */
const operatorLimits: HttpLimits = {
  ...defaultLimits,
  connections: 64,
  pipelined: 4,
  headTimeout: durationMs(5_000),
  requestTimeout: durationMs(30_000),
  linger: { time: durationMs(5_000), bytes: 8 * 1_048_576 },
  // `stop` accepts no further requests, because operators can repeat their requests later.
  acceptAfterStop: durationMs(0),
  drain: durationMs(5_000),
}
/** Maximum bytes of a body. A deletion of 5,000 users, the maximum, has about 200 KB. */
const maxBodyBytes = 1_048_576
/** Bytes of memory for all request bodies except those of syncs. */
const memoryBytes = 8 * 1_048_576

interface Deps {
  readonly listen: ListenAddress
  readonly api: DeletionAndAudienceApi
  readonly objects: ObjectsApi
  readonly log: MessageAndDeadLetterApi
  readonly jobs: JobsApi
  readonly readLedger: ReadLedger
  readonly listAudiences: ListAudiences
  readonly findKey: () => FindOperatorKey
  readonly sessions: () => OperatorSessions
  /**
   * The header in which a proxy sends the client's address. Wrong keys are counted by this address
   * or, if the header is `undefined`, by the address of the connection.
   */
  readonly clientAddressHeader?: string | undefined
  readonly publishedKeys: PublishedKeys
  /** The directory of the built console; `undefined` when not built. */
  readonly consoleDirectory: string | undefined
  readonly audit: AuditLog
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'operatorAnswers'>
  readonly limits?: Partial<HttpLimits>
  readonly maxBodyBytes?: number
  readonly memory?: RequestBodyDeps['memory']
  readonly tracer?: Tracer | undefined
}

/**
 * Creates the listener of the operator API and the console, with its own limits and keys, and
 * without CORS.
 */
export function createOperatorServer(deps: Deps): Pick<HttpServer, 'start' | 'stop'> {
  const { api, objects, log, jobs, audit, findKey, sessions, publishedKeys, clock, metrics, tracer } = deps
  const { clientAddressHeader } = deps
  const limits = { ...operatorLimits, ...deps.limits }
  const onAnswer = ({ code }: HttpResponse): void => metrics.operatorAnswers.inc({ code })
  const server = createHttpServer({
    ...deps,
    limits,
    onAnswer,
    methodsOf: operatorMethodsOf,
    isCrossOrigin: () => false,
  })
  const budget = new MemoryBudget(memoryBytes)
  const ownMemory = {
    reserve: (bytes: number) => budget.take(bytes),
    release: (bytes: number) => budget.giveBack(bytes),
  }
  const throttle = new FailureThrottle(clock.monotonic())
  const gate = createOperatorAuthentication({ findKey, sessions, throttle, clientAddressHeader, clock })
  const shared = {
    ...server,
    runInSpan: createRunInSpan(tracer, server.fail),
    memory: deps.memory ?? ownMemory,
    maxBodyBytes: deps.maxBodyBytes ?? maxBodyBytes,
    limits,
    clock,
  }
  addDeletionAndSyncRoutes({ ...shared, operator: { api, gate, audit } })
  const guard = createGuard({ ...shared, operator: { gate, audit } })
  addObjectRoutes({ ...shared, api: objects, guard })
  addMessageAndDeadLetterRoutes({ ...shared, log, guard })
  addJobRoutes({ ...shared, api: jobs, guard })
  addSessionRoutes({ ...shared, sessions, throttle, clientAddressHeader, audit, guard })
  addConsoleRoutes({ ...server, directory: deps.consoleDirectory })
  addListAudiencesRoute({ ...shared, listAudiences: deps.listAudiences, guard })
  addLedgerRoute({ ...shared, readLedger: deps.readLedger, guard })
  const document = inBytes(ok(JSON.stringify(operatorDocument())))
  const keysAnswer = createKeysAnswer()
  server.app.get(documentPath, (request, reply) => server.send(request, reply, document))
  server.app.get(keysPath, (request, reply) => {
    const { destination } = request.query as Readonly<Record<string, unknown>>
    publishedKeys(typeof destination === 'string' ? destination : undefined).then(
      keys => server.send(request, reply, keysAnswer(keys)),
      error => server.fail(request, reply, error),
    )
  })
  return { start: server.start, stop: server.stop }
}

/**
 * Creates a function that returns the response with the published keys. Receivers may cache the
 * keys for five minutes, so a new key must be published at least five minutes before it signs.
 */
function createKeysAnswer(): (keys: Awaited<ReturnType<PublishedKeys>>) => HttpResponse {
  // The body is built only once per `keys` object: a body may have megabytes, and any client may
  // request it, even without an operator key.
  const built = new WeakMap<object, HttpResponse>()
  return keys => {
    const answer = built.get(keys) ?? inBytes(ok(JSON.stringify(keys)))
    built.set(keys, answer)
    return { ...answer, headers: { ...answer.headers, 'cache-control': 'public, max-age=300' } }
  }
}
