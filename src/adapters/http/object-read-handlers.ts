import type { ObjectKind } from '../../core/config-objects/config-objects.ts'
import type { JsonObject } from '../../core/message/json.ts'
import { etagOf } from '../../core/operator/etag-precondition.ts'
import { objectRefusal, type ShownProblem } from '../../core/operator/object-refusal.ts'
import { changeViewOf, viewOf } from '../../core/operator/object-view.ts'
import type { ObjectsApi } from '../../core/operator/objects-api.ts'
import { objectQueryOf, sinceOf, unknownParameters } from '../../core/operator/query-parameters-and-object-page.ts'
import type { Clock } from '../../core/ports.ts'
import type { Asked, Handler } from './authenticate-and-audit-requests.ts'
import { type HttpResponse, objectProblem, ok } from './response-codes-and-bodies.ts'

interface Deps {
  readonly api: ObjectsApi
  readonly clock: Pick<Clock, 'now'>
}

/** The handlers that read objects, changes and status, and that send a test message. */
export function createObjectHandlers({ api, clock }: Deps) {
  const list =
    (kind: ObjectKind): Handler =>
    async ({ request }) => {
      const read = objectQueryOf(request.query as JsonObject, kind)
      if (read.kind === 'invalid') return { answer: invalidQuery(read.problems) }
      const { objects, next } = api.list(kind, read.query)
      return { answer: ok(JSON.stringify({ [`${kind}s`]: objects.map(viewOf), next })) }
    }

  const show =
    (kind: ObjectKind): Handler =>
    async ({ request }) => {
      const found = api.get(kind, idIn(request))
      if (found.kind === 'refused') return { answer: objectProblem(found) }
      return { answer: withEtag(ok(JSON.stringify(viewOf(found))), found.version) }
    }

  const test: Handler = async ({ request }) => {
    const destination = idIn(request)
    const tested = await api.test(destination)
    if (tested.kind === 'refused') return { answer: objectProblem(tested), change: { destination } }
    const { kind: _, ...result } = tested
    return { answer: ok(JSON.stringify(result)), change: { destination, delivered: tested.delivered } }
  }

  const changes: Handler = async ({ request }) => {
    const read = sinceOf(request.query as JsonObject, clock.now())
    if (read.kind === 'invalid') return { answer: invalidQuery(read.problems) }
    const { changes: found, isPartial } = api.changes(read.query)
    const shown = { ...(isPartial && { partial: true }), changes: found.map(changeViewOf) }
    return { answer: ok(JSON.stringify(shown)) }
  }

  const destinationStatus: Handler = async ({ request }) => {
    const found = await api.destinationStatus(idIn(request))
    if (found.kind === 'refused') return { answer: objectProblem(found) }
    const { kind: _, ...status } = found
    return { answer: ok(JSON.stringify(status)) }
  }

  return {
    list,
    show,
    test,
    changes,
    status: (async () => ({ answer: ok(JSON.stringify(await api.status())) })) satisfies Handler,
    destinationStatus,
  }
}

export const idIn = ({ params }: Asked['request']): string => (params as { readonly id: string }).id

export const withEtag = (answer: HttpResponse, version: number): HttpResponse => ({
  ...answer,
  headers: { ...answer.headers, etag: etagOf(version) },
})

/**
 * Wraps the handler of a path without query parameters. Any parameter is an error, because the
 * client may rely on it, for example on `dryRun=true`.
 */
export const withoutQuery =
  (handle: Handler, refusal: (problems: readonly ShownProblem[]) => HttpResponse = invalidQuery): Handler =>
  async asked => {
    const problems = [...unknownParameters(asked.request.query as JsonObject, [])]
    return problems.length > 0 ? { answer: refusal(problems) } : handle(asked)
  }

export const invalidQuery = (problems: readonly ShownProblem[]): HttpResponse =>
  objectProblem(objectRefusal('invalid_query', 'The query is not valid: see "problems".', { problems }))
