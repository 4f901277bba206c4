import type { JsonObject } from '../../core/message/json.ts'
import { etagOf } from '../../core/operator/etag-precondition.ts'
import { objectRefusal, type ShownProblem } from '../../core/operator/object-refusal.ts'
import { unknownParameters } from '../../core/operator/query-parameters-and-object-page.ts'
import type { Asked, Handler } from './authenticate-and-audit-requests.ts'
import { type HttpResponse, objectProblem } from './response-codes-and-bodies.ts'

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
