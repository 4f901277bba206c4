import { destinationOf, type Job, type JobKind, jobKinds } from '../../core/jobs/job.ts'
import { jobViewOf } from '../../core/jobs/job-view.ts'
import type { JobsApi } from '../../core/jobs/jobs-api.ts'
import { type ObjectRefusal, objectRefusal } from '../../core/operator/object-refusal.ts'
import { jobPaths, jobsPaths } from './api-paths-and-methods.ts'
import type { Asked, Guard, Handler } from './authenticate-and-audit-requests.ts'
import type { HttpServer } from './json-api-server.ts'
import { createReadObjectBody, type RequestBodyDeps } from './json-object-body.ts'
import { idIn, withoutQuery } from './refuse-query-and-set-etag.ts'
import {
  acceptedForProcessing,
  type HttpResponse,
  objectProblem,
  ok,
  toObjectFormat,
} from './response-codes-and-bodies.ts'

interface Deps extends RequestBodyDeps, Pick<HttpServer, 'app'> {
  readonly api: JobsApi
  readonly guard: Guard
}

export function addJobRoutes({ guard, app, api, ...deps }: Deps): void {
  const readObjectBody = createReadObjectBody(deps)
  const guarded = (route: string, handle: Handler, action?: string) =>
    guard(route, withoutQuery(handle), { action, toRouteFormat: toObjectFormat })

  const create =
    (kind: JobKind): Handler =>
    async ({ key, request, reply }) => {
      const idempotencyKey = idempotencyKeyIn(request)
      if (typeof idempotencyKey === 'object') return { answer: idempotencyKey }
      const body = await readObjectBody(request.raw, reply.raw)
      if (body.kind === 'refused') return { answer: body.answer }
      const job = await api.create({ kind, body: body.value, by: key.name, idempotencyKey })
      if (job.kind === 'refused') return { answer: objectProblem(job) }
      // The audit log needs only the id and the destination, because `GET` returns the whole job.
      return {
        answer: acceptedForProcessing(viewFor(key, job)),
        change: { id: job.id, destination: destinationOf(job) },
      }
    }

  const list =
    (kind: JobKind): Handler =>
    async ({ key }) => {
      const jobs = api.list(kind).map(job => jobViewOf(job, isFullFor(key)))
      return { answer: ok(JSON.stringify({ [`${kind}s`]: jobs })) }
    }

  const show =
    (kind: JobKind): Handler =>
    async ({ key, request }) => ({ answer: answerOf(key, await api.get(kind, idIn(request))) })

  const cancel =
    (kind: JobKind): Handler =>
    async ({ key, request }) => {
      const id = idIn(request)
      return { answer: answerOf(key, await api.cancel(kind, id)), change: { id } }
    }

  for (const kind of jobKinds) {
    const [all, one] = [jobsPaths[kind], jobPaths[kind]]
    app.post(all, guarded(all, create(kind), `create_${kind}`))
    app.get(all, guarded(all, list(kind)))
    app.get(one, guarded(one, show(kind)))
    app.delete(one, guarded(one, cancel(kind), `cancel_${kind}`))
  }
}

/** Only the role `operate` may see the user ids of a job. */
const isFullFor = ({ role }: Asked['key']): boolean => role === 'operate'

const answerOf = (key: Asked['key'], job: Job | ObjectRefusal): HttpResponse =>
  job.kind === 'refused' ? objectProblem(job) : ok(viewFor(key, job))

const viewFor = (key: Asked['key'], job: Job): string => JSON.stringify(jobViewOf(job, isFullFor(key)))

/**
 * Returns the value of `Idempotency-Key` if the request has one, or the error response if the value
 * is not valid.
 */
function idempotencyKeyIn({ headers }: Asked['request']): string | undefined | HttpResponse {
  const value = headers['idempotency-key']
  if (value === undefined || (typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value))) return value
  const message = 'is not valid'
  const hint = 'use 1 to 255 printable ASCII characters without spaces, for example a UUID'
  return objectProblem(
    objectRefusal('invalid_precondition', 'The header Idempotency-Key is not valid: see "problems".', {
      problems: [{ path: 'Idempotency-Key', message, hint }],
    }),
  )
}
