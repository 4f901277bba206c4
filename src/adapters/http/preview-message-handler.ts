import type { ObjectsApi } from '../../core/operator/objects-api.ts'
import type { Handler } from './authenticate-and-audit-requests.ts'
import { createReadObjectBody, type RequestBodyDeps } from './json-object-body.ts'
import { idIn } from './refuse-query-and-set-etag.ts'
import { objectProblem, ok } from './response-codes-and-bodies.ts'

/**
 * Creates the handler that previews a message. A preview changes nothing, but is in the audit log,
 * like a test message.
 */
export function createPreviewHandler({ api, ...deps }: RequestBodyDeps & { readonly api: ObjectsApi }): Handler {
  const readObjectBody = createReadObjectBody(deps)
  return async ({ request, reply }) => {
    const change = { destination: idIn(request) }
    const body = await readObjectBody(request.raw, reply.raw)
    if (body.kind === 'refused') return { answer: body.answer, change }
    const found = api.preview(change.destination, body.value)
    const answer = found.kind === 'refused' ? objectProblem(found) : ok(JSON.stringify(found.preview))
    return { answer, change }
  }
}
