import type { ObjectKind } from '../../core/config-objects/config-objects.ts'
import type { JsonObject } from '../../core/message/json.ts'
import { changeViewOf, viewOf } from '../../core/operator/object-view.ts'
import type { ObjectsApi } from '../../core/operator/objects-api.ts'
import { objectQueryOf, sinceOf } from '../../core/operator/query-parameters-and-object-page.ts'
import type { Clock } from '../../core/ports.ts'
import type { Handler } from './authenticate-and-audit-requests.ts'
import { idIn, invalidQuery, withEtag } from './refuse-query-and-set-etag.ts'
import { objectProblem, ok } from './response-codes-and-bodies.ts'

interface Deps {
  readonly api: ObjectsApi
  readonly clock: Pick<Clock, 'now'>
}

/** The handlers that read objects, changes and status. */
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
    changes,
    status: (async () => ({ answer: ok(JSON.stringify(await api.status())) })) satisfies Handler,
    destinationStatus,
  }
}
