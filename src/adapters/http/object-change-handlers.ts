import type { ObjectKind } from '../../core/config-objects/config-objects.ts'
import type { JsonObject } from '../../core/message/json.ts'
import { toIsoTimestamp } from '../../core/message/timestamp.ts'
import type { AuditFields } from '../../core/operator/audit-log.ts'
import { preconditionOf } from '../../core/operator/etag-precondition.ts'
import { maxWriteKeys } from '../../core/operator/max-write-keys.ts'
import { type ObjectRefusal, objectRefusal, type ShownProblem } from '../../core/operator/object-refusal.ts'
import { viewOf } from '../../core/operator/object-view.ts'
import type { ObjectChanged, ObjectsApi, ObjectTarget, Rotated, Switch } from '../../core/operator/objects-api.ts'
import { dryRunOf } from '../../core/operator/query-parameters-and-object-page.ts'
import { type DurationMs, durationMs, parseDuration } from '../../core/time.ts'
import type { Asked, Handled, Handler } from './authenticate-and-audit-requests.ts'
import { createReadObjectBody, type RequestBodyDeps } from './json-object-body.ts'
import { idIn, invalidQuery, withEtag } from './refuse-query-and-set-etag.ts'
import { type HttpResponse, objectProblem, ok } from './response-codes-and-bodies.ts'

/** How long an old secret stays in use after a rotation by default. */
const defaultOverlap = durationMs(24 * 3_600_000)
const maxOverlap = durationMs(30 * 24 * 3_600_000)

/** The handlers of the routes that change destinations and sources. */
export function createChangeHandlers(deps: RequestBodyDeps & { readonly api: ObjectsApi }) {
  const { api } = deps
  const readObjectBody = createReadObjectBody(deps)

  /**
   * Calls `change` with the object of the request, or returns the error response to an invalid
   * query or precondition.
   */
  async function targeted(
    kind: ObjectKind,
    { request, key }: Asked,
    change: (target: ObjectTarget) => Promise<ObjectChanged | Rotated | ObjectRefusal | HttpResponse | undefined>,
  ): Promise<Handled> {
    const id = idIn(request)
    const precondition = preconditionOf({
      ifMatch: request.headers['if-match'],
      ifNoneMatch: request.headers['if-none-match'],
    })
    const read = dryRunOf(request.query as JsonObject, request.method)
    if (read.kind === 'invalid') return { answer: invalidQuery(read.problems), change: { [kind]: id } }
    const dryRun = read.query
    const about: AuditFields = { [kind]: id, dryRun: dryRun || undefined }
    if (precondition.kind === 'invalid') return { answer: invalidPrecondition(precondition), change: about }
    const done = await change({ kind, id, by: key.name, precondition, dryRun })
    if (done === undefined || 'status' in done) return { answer: done, change: about }
    if (done.kind === 'refused') return { answer: objectProblem(done), change: about }
    return { answer: responseTo(done), change: { ...about, version: done.object?.version, fields: done.fields } }
  }

  const withDocument =
    (kind: ObjectKind, change: 'replace' | 'patch'): Handler =>
    asked =>
      targeted(kind, asked, async target => {
        const body = await readObjectBody(asked.request.raw, asked.reply.raw)
        return body.kind === 'refused' ? body.answer : api[change](target, body.value)
      })

  const rotateSecret: Handler = asked =>
    targeted('destination', asked, async target => {
      const body = await readObjectBody(asked.request.raw, asked.reply.raw, {})
      if (body.kind === 'refused') return body.answer
      const overlap = overlapIn(body.value)
      return typeof overlap === 'number' ? api.rotateSecret(target, overlap) : invalidBody(overlap)
    })

  const rotateKey: Handler = asked =>
    targeted('source', asked, async target => {
      const body = await readObjectBody(asked.request.raw, asked.reply.raw, {})
      if (body.kind === 'refused') return body.answer
      const keep = keepIn(body.value)
      return typeof keep === 'object' ? invalidBody(keep) : api.rotateKey(target, keep)
    })

  return {
    replace: (kind: ObjectKind) => withDocument(kind, 'replace'),
    patch: (kind: ObjectKind) => withDocument(kind, 'patch'),
    remove:
      (kind: ObjectKind): Handler =>
      asked =>
        targeted(kind, asked, target => api.delete(target)),
    switchTo:
      (to: Switch): Handler =>
      asked =>
        targeted('destination', asked, target => api.switch(target, to)),
    rotateSecret,
    rotateKey,
  }
}

/** The response to a change: the object after the change and, after a rotation, the new secret. */
function responseTo(done: ObjectChanged | Rotated): HttpResponse {
  const { object, created, fields, isDryRun } = done
  if (isDryRun === true) return ok(JSON.stringify({ dryRun: true, created, changedFields: fields }))
  if (object === undefined) return { code: 'ok', status: 204, headers: {}, body: '' }
  const rotated = 'secret' in done ? rotatedParts(done) : {}
  const answer = ok(JSON.stringify({ ...viewOf(object), changedFields: fields, ...rotated }))
  return withEtag({ ...answer, status: created ? 201 : 200 }, object.version)
}

const rotatedParts = ({ secret, until, keys }: Rotated): object => ({
  ...(keys === undefined ? { secret } : { writeKey: secret, keys }),
  ...(until !== undefined && { rotatesAt: toIsoTimestamp(until) }),
})

/**
 * How long the old secret stays in use: `overlap` in the request body. If the body is not valid,
 * returns the problem instead.
 */
function overlapIn({ overlap, ...others }: JsonObject): DurationMs | ShownProblem {
  const excess = unknownField(others, 'overlap')
  if (excess !== undefined) return excess
  if (overlap === undefined) return defaultOverlap
  const parsed = typeof overlap === 'string' ? parseDuration(overlap) : undefined
  if (parsed !== undefined && parsed <= maxOverlap) return parsed
  const hint = 'for example 24h; with 0s, Hookline uses only the new secret from now on'
  return { path: 'overlap', message: 'must be a duration of at most 720h', hint }
}

/**
 * The number of earlier write keys that stay valid: `keep` in the request body. If the body is not
 * valid, returns the problem instead.
 */
function keepIn({ keep, ...others }: JsonObject): number | undefined | ShownProblem {
  const excess = unknownField(others, 'keep')
  if (excess !== undefined) return excess
  if (keep === undefined) return undefined
  if (typeof keep === 'number' && Number.isInteger(keep) && keep >= 0 && keep < maxWriteKeys) return keep
  const hint = '"keep" is the number of earlier keys that stay valid'
  return { path: 'keep', message: `must be an integer from 0 to ${maxWriteKeys - 1}`, hint }
}

function unknownField(others: JsonObject, known: string): ShownProblem | undefined {
  const [name] = Object.keys(others)
  return name === undefined
    ? undefined
    : { path: name.slice(0, 60).toWellFormed(), message: 'is an unknown field', hint: `use only the field "${known}"` }
}

const invalidBody = (problem: ShownProblem): HttpResponse =>
  objectProblem(objectRefusal('invalid_body', 'The body is not valid: see "problems".', { problems: [problem] }))

const invalidPrecondition = ({
  header,
  message,
  hint,
}: {
  readonly header: string
  readonly message: string
  readonly hint: string
}): HttpResponse =>
  objectProblem(
    objectRefusal('invalid_precondition', `The header ${header} is not valid: see "problems".`, {
      problems: [{ path: header, message, hint }],
    }),
  )
