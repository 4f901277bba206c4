import type { ConfigObject } from '../../../packages/console/src/api/response-types.ts'
import { objectOf } from './fake-operator-api-data.ts'
import type { Answer, Call } from './fake-routes.ts'

export const ok = (body: unknown): Answer => ({ status: 200, body })
export const refusal = (status: number, code: string, message: string, problems: readonly object[] = []): Answer => ({
  status,
  body: { code, message, problems },
})
export const notFound = refusal(404, 'not_found', 'There is no object with this id: check the id.')

/** Creates or replaces the object of a request. With `dryRun=true`, changes nothing. */
export function replaced(
  { body, query, expects }: Call,
  { kind, id }: Pick<ConfigObject, 'kind' | 'id'>,
  { objects, problems }: { readonly objects: Map<string, ConfigObject>; readonly problems: readonly object[] },
): Answer {
  const object = objects.get(id)
  if (problems.length > 0) return refusal(422, 'invalid_object', 'The document is not valid: see problems.', problems)
  if (object !== undefined && expects !== object.version)
    return refusal(412, 'precondition_failed', `The object has version ${object.version}: read it first.`)
  const changedFields = Object.keys(body).filter(
    key => JSON.stringify(body[key]) !== JSON.stringify(object?.document[key]),
  )
  if (query.get('dryRun') === 'true') return ok({ dryRun: true, created: object === undefined, changedFields })
  const changed = objectOf(id, { kind, document: { id, ...body }, version: (object?.version ?? 0) + 1 })
  objects.set(id, changed)
  return ok({ ...changed, changedFields })
}

export function deleted({ expects }: Call, object: ConfigObject, objects: Map<string, ConfigObject>): Answer {
  if (expects !== object.version)
    return refusal(412, 'precondition_failed', `The object has version ${object.version}: read it first.`)
  objects.delete(object.id)
  return ok({ ...object, changedFields: [] })
}
