import { syncModes } from '../../core/audience/audience-watermark.ts'
import { parseDeletionText } from '../../core/deletion/deletion-request.ts'
import { maxMessageBytes } from '../../core/message/message-size-limits.ts'
import {
  type DeletionAndAudienceApi,
  type SyncRequest,
  UploadCutShort,
} from '../../core/operator/deletion-and-audience-api.ts'
import { DamagedGzip, linesOf } from '../streams/plain-or-gzip-lines.ts'
import { deletionPath, deletionsPath, syncsPath } from './api-paths-and-methods.ts'
import {
  type Asked,
  createGuard,
  type GuardDeps,
  type Handled,
  type Handler,
  type OperatorGate,
} from './authenticate-and-audit-requests.ts'
import { createReservation } from './body-memory-reservation.ts'
import type { HttpServer } from './json-api-server.ts'
import type { RequestBodyDeps } from './json-object-body.ts'
import { readBody } from './read-body.ts'
import { withoutQuery } from './refuse-query-and-set-etag.ts'
import { acceptedForProcessing, type HttpResponse, ok, problem, refused } from './response-codes-and-bodies.ts'
import { createStreamedBody } from './streamed-request-body.ts'

interface Deps extends RequestBodyDeps, Omit<GuardDeps, 'operator' | 'clock'>, Pick<HttpServer, 'app'> {
  /** `undefined` when the operator API is off on this listener. */
  readonly operator: GuardedOperatorApi | undefined
}

/** The operator API, its authentication, and the audit log. */
export interface GuardedOperatorApi extends OperatorGate {
  readonly api: DeletionAndAudienceApi
}

/**
 * Adds the routes for deletions and audiences. Without a valid operator key, no body is read, and
 * no response shows which objects exist.
 */
export function addDeletionAndSyncRoutes({ operator, ...deps }: Deps): void {
  const { app } = deps
  const { deleteUsers, findDeletion, sync } = createOperatorHandlers(deps)
  const guard = createGuard({ ...deps, operator: operator ?? apiIsOff })

  // The guard runs handlers only when the operator API is on, so `operator` is defined.
  const handlerOf =
    (handle: OperatorHandler): Handler =>
    asked =>
      handle({ ...asked, operator: (operator as GuardedOperatorApi).api })
  const guarded = (route: string, handle: Handler, action?: string) => guard(route, handle, { action })

  app.post(
    deletionsPath,
    guarded(
      deletionsPath,
      withoutQuery(handlerOf(deleteUsers), () => noParameters),
      'delete_users',
    ),
  )
  app.get(
    deletionPath,
    guarded(
      deletionPath,
      withoutQuery(handlerOf(findDeletion), () => noParameters),
    ),
  )
  app.post(syncsPath, guarded(syncsPath, handlerOf(sync), 'sync_audience'))
}

const noParameters = problem('invalid_body', 'This path has no query parameters: send the request without a query.')

const apiIsOff = problem(
  'not_found',
  'The operator API is not available at this address: use the address in operator.listen. Hookline serves the API there if operator.keys has a key.',
)

/** Maximum number of concurrent syncs. Each holds up to 8 MiB of unacknowledged records. */
const maxSyncs = 3

interface OperatorAsked extends Asked {
  readonly operator: DeletionAndAudienceApi
}

type OperatorHandler = (asked: OperatorAsked) => Promise<Handled>

/** The handlers of the operator API. They run after the guard has checked the operator key. */
function createOperatorHandlers({ connections, memory, maxBodyBytes, limits, clock }: RequestBodyDeps) {
  let syncs = 0

  async function deleteUsers({ operator, request: { raw }, reply, trace }: OperatorAsked) {
    const reservation = createReservation(memory)
    const connection = connections.of(raw)
    const { progress } = limits
    try {
      const about = { maxBytes: maxBodyBytes, memory: reservation, progress, clock, connection }
      const body = await readBody(raw, reply.raw, about)
      if (body.kind !== 'read') return { answer: body.kind === 'gone' ? undefined : body.answer }
      const parsed = parseDeletionText(body.text)
      if (parsed.kind === 'rejected') return { answer: problem('invalid_json', parsed.message) }
      const answer = await operator.deleteUsers(parsed.value, trace)
      if (answer.kind === 'refused') return { answer: refused(answer) }
      const { id, status, users } = answer
      return { answer: acceptedForProcessing(JSON.stringify({ id, status })), change: { id, users } }
    } finally {
      reservation.release()
    }
  }

  async function findDeletion({ operator, request }: OperatorAsked) {
    const answer = await operator.findDeletion((request.params as { id: string }).id)
    return { answer: answer.kind === 'refused' ? refused(answer) : ok(JSON.stringify(answer.status)) }
  }

  async function sync({ operator, request: { raw, params, query }, reply, trace }: OperatorAsked) {
    const { name: audience } = params as { name: string }
    const unknown = operator.refuseAudience(audience)
    const change = { audience }
    if (unknown !== undefined) return { answer: refused(unknown), change }
    const asked = syncQueryOf(query as Record<string, unknown>)
    if ('status' in asked) return { answer: asked, change }
    if (/^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(raw.headers['content-type'] ?? ''))
      return { answer: formRefusal, change }
    if (syncs >= maxSyncs) return { answer: tooManySyncs, change }
    const pieces = createStreamedBody(raw, reply.raw, {
      progress: limits.progress,
      clock,
      connection: connections.of(raw),
    })
    let damage: HttpResponse | undefined
    let read = 0
    async function* lines() {
      try {
        for await (const some of linesOf(pieces.read(), maxMessageBytes)) {
          read += some.length
          yield some
        }
      } catch (error) {
        if (!(error instanceof DamagedGzip)) throw error
        damage = problem(
          'invalid_body',
          `The compressed body is damaged (${error.message}): send the whole list again.`,
        )
        throw new UploadCutShort(error.message, { cause: error })
      }
    }
    syncs++
    try {
      const answer = await operator.sync({ ...asked, audience, lines: lines(), trace })
      const done = { ...change, mode: asked.mode, lines: read }
      if (answer.kind === 'cut_short') return { answer: damage ?? pieces.answer(), change: done }
      if (answer.kind === 'refused') return { answer: refused(answer), change: done }
      const { syncId, received } = answer
      return {
        answer: acceptedForProcessing(JSON.stringify({ syncId, received })),
        change: { ...done, syncId, received },
      }
    } finally {
      syncs--
    }
  }

  return { deleteUsers, findDeletion, sync }
}

/**
 * Parses the query of a sync. Unknown parameters are an error: if a misspelt `mode` were ignored, a
 * partial list would count as the list of all members.
 */
function syncQueryOf(query: Record<string, unknown>): Pick<SyncRequest, 'mode' | 'allowEmpty'> | HttpResponse {
  const { mode: asked = 'full', allowEmpty = 'false', ...others } = query
  const mode = syncModes.find(known => known === asked)
  if (mode === undefined) return problem('invalid_body', "The query parameter 'mode' must be 'full' or 'partial'.")
  if (allowEmpty !== 'true' && allowEmpty !== 'false')
    return problem('invalid_body', "The query parameter 'allowEmpty' must be 'true' or 'false'.")
  if (Object.keys(others).length > 0)
    return problem('invalid_body', "The query has an unknown parameter: use only 'mode' and 'allowEmpty'.")
  return { mode, allowEmpty: allowEmpty === 'true' }
}

/**
 * The error response to a list of users that is sent as a form. Programs may change the content of
 * a form: for example, `curl -d` removes the line breaks of a file.
 */
const formRefusal = problem(
  'invalid_body',
  "The request has the Content-Type of a form: send the list itself as the body, and omit Content-Type. With curl, use '-X POST -T FILE', not '-d' or '-F'.",
)

const tooManySyncs = problem(
  'unavailable',
  `This process already receives the maximum of ${maxSyncs} syncs: send the whole list again after the time in Retry-After.`,
  { retryAfter: 5 },
)
