import type { FastifyReply, FastifyRequest } from 'fastify'
import { syncModes } from '../../core/audience/sync.ts'
import { parseField } from '../../core/message/json.ts'
import { maxMessageBytes } from '../../core/message/parts.ts'
import { type OperatorApi, type SyncRequest, UploadCutShort } from '../../core/operator-api.ts'
import type { Clock } from '../../core/ports.ts'
import type { TraceContext } from '../../core/trace/tracer.ts'
import type { TrackingApi } from '../../core/tracking-api.ts'
import { DamagedGzip, linesOf } from '../lines.ts'
import { type Answer, ok, problem, refused, takenUp } from './answers.ts'
import { readBody } from './body.ts'
import { createBodyPieces } from './body-pieces.ts'
import type { HttpServer } from './http-server.ts'
import type { HttpLimits } from './limits.ts'
import { createReservation } from './memory.ts'
import { deletionPath, deletionsPath, syncsPath } from './paths.ts'
import type { TakeTraced } from './traced.ts'

/** What a sync takes while it is written: the records that Kafka has not acknowledged. */
const syncBytes = 8 * 1_048_576

interface Deps extends Pick<HttpServer, 'app' | 'connections' | 'send' | 'fail'> {
  readonly takeTraced: TakeTraced
  /** Undefined: no operator key is configured. */
  readonly operator: OperatorApi | undefined
  readonly memory: Pick<TrackingApi, 'reserve' | 'release'>
  readonly maxBodyBytes: number
  readonly limits: HttpLimits
  readonly clock: Clock
}

interface Asked {
  readonly operator: OperatorApi
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Of the request; undefined without traces. */
  readonly trace: TraceContext | undefined
}

type Handler = (asked: Asked) => Promise<Answer | undefined>

/** Adds the routes for operators. Whoever has not the key learns nothing, and nothing of a body is read. */
export function addOperatorRoutes({ app, connections, send, fail, operator, memory, ...deps }: Deps): void {
  const { clock, maxBodyBytes, limits, takeTraced } = deps
  const guarded =
    (route: string, handle: Handler) =>
    (request: FastifyRequest, reply: FastifyReply): void => {
      takeTraced(route, { request, reply }, trace => admitted(handle, { operator, request, reply, trace })).then(
        answer => answer && send(request, reply, answer),
        error => fail(request, reply, error),
      )
    }

  async function admitted(handle: Handler, { operator, ...asked }: Omit<Asked, 'operator'> & Pick<Deps, 'operator'>) {
    if (operator === undefined) return apiIsOff
    const key = bearerKeyOf(asked.request.headers.authorization)
    if (key === undefined || !operator.isOperatorKey(key)) return noKey
    return await handle({ operator, ...asked })
  }

  async function deleteUsers({ operator, request: { raw }, reply, trace }: Asked) {
    const reservation = createReservation(memory)
    const connection = connections.of(raw)
    const { progress } = limits
    try {
      const about = { maxBytes: maxBodyBytes, memory: reservation, progress, clock, connection }
      const body = await readBody(raw, reply.raw, about)
      if (body.kind !== 'read') return body.kind === 'gone' ? undefined : body.answer
      const parsed = parseField(body.text, 'The body')
      if (parsed.kind === 'rejected') return problem('invalid_json', parsed.message)
      const answer = await operator.deleteUsers(parsed.value, trace)
      if (answer.kind === 'refused') return refused(answer)
      const { id, status } = answer
      return takenUp(JSON.stringify({ id, status }))
    } finally {
      reservation.giveBack()
    }
  }

  async function findDeletion({ operator, request }: Asked) {
    const answer = await operator.findDeletion((request.params as { id: string }).id)
    return answer.kind === 'refused' ? refused(answer) : ok(JSON.stringify(answer.status))
  }

  async function sync({ operator, request: { raw, params, query }, reply, trace }: Asked) {
    const { name: audience } = params as { name: string }
    const unknown = operator.refuseAudience(audience)
    if (unknown !== undefined) return refused(unknown)
    const asked = syncQueryOf(query as Record<string, unknown>)
    if ('status' in asked) return asked
    const reservation = createReservation(memory)
    if (!reservation.take(syncBytes)) return tooMuch
    const pieces = createBodyPieces(raw, reply.raw, {
      progress: limits.progress,
      clock,
      connection: connections.of(raw),
    })
    let damage: Answer | undefined
    async function* lines() {
      try {
        yield* linesOf(pieces.read(), maxMessageBytes)
      } catch (error) {
        if (!(error instanceof DamagedGzip)) throw error
        damage = problem('invalid_body', `The body is damaged: ${error.message}.`)
        throw new UploadCutShort(error.message, { cause: error })
      }
    }
    try {
      const answer = await operator.sync({ ...asked, audience, lines: lines(), trace })
      if (answer.kind === 'cut_short') return damage ?? pieces.answer()
      if (answer.kind === 'refused') return refused(answer)
      const { syncId, received } = answer
      return takenUp(JSON.stringify({ syncId, received }))
    } finally {
      reservation.giveBack()
    }
  }

  app.post(deletionsPath, guarded(deletionsPath, deleteUsers))
  app.get(deletionPath, guarded(deletionPath, findDeletion))
  app.post(syncsPath, guarded(syncsPath, sync))
}

const bearerPattern = /^bearer[ \t]+(\S+)[ \t]*$/i
const bearerKeyOf = (authorization: string | undefined): string | undefined =>
  bearerPattern.exec(authorization ?? '')?.[1]

/** What nobody knows is refused: it may be a misspelt `mode=partial`, and the list would be taken for all members. */
function syncQueryOf(query: Record<string, unknown>): Pick<SyncRequest, 'mode' | 'allowEmpty'> | Answer {
  const { mode: asked = 'full', allowEmpty = 'false', ...others } = query
  const mode = syncModes.find(known => known === asked)
  if (mode === undefined) return problem('invalid_body', "'mode' in the query must be full or partial.")
  if (allowEmpty !== 'true' && allowEmpty !== 'false')
    return problem('invalid_body', "'allowEmpty' in the query must be true or false.")
  if (Object.keys(others).length > 0)
    return problem('invalid_body', 'The query has more than mode and allowEmpty: nothing else is known.')
  return { mode, allowEmpty: allowEmpty === 'true' }
}

const apiIsOff = problem('not_found', 'The operator API is off: it needs collector.operatorKey in the configuration.')
const noKey = problem('invalid_operator_key', "Send the operator key: 'Authorization: Bearer <key>'.")
const tooMuch = problem('unavailable', 'Too much is under way at present: send all of it again.', { retryAfter: 5 })
