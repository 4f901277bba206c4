import type { ObjectsApi } from '../../core/operator/objects-api.ts'
import type { Handler } from './authenticate-and-audit-requests.ts'
import { idIn } from './refuse-query-and-set-etag.ts'
import { objectProblem, ok } from './response-codes-and-bodies.ts'

/** Creates the handler that sends a test message to a destination. */
export function createTestMessageHandler({ api }: { readonly api: ObjectsApi }): Handler {
  return async ({ request }) => {
    const destination = idIn(request)
    const tested = await api.test(destination)
    if (tested.kind === 'refused') return { answer: objectProblem(tested), change: { destination } }
    const { kind: _, ...result } = tested
    return { answer: ok(JSON.stringify(result)), change: { destination, delivered: tested.delivered } }
  }
}
