import { type ObjectRefusalCode, objectRefusalStatus } from '../../core/operator/object-refusal.ts'
import { json, ofEveryRequest, response } from './openapi-responses-and-references.ts'

/* Functions that build single operations of the operator API as OpenAPI 3.1. */

type Operation = Readonly<Record<string, unknown>>

/** The meaning of each error code, for the descriptions of the error responses. */
export const objectMeanings: Readonly<Record<ObjectRefusalCode, string>> = {
  invalid_json:
    'the body is not JSON, has a key twice, has the key `__proto__`, is nested too deeply, or has half of a Unicode surrogate pair',
  invalid_body: 'the body does not have the form that this path requires; `problems` says what to correct',
  invalid_query: 'a query parameter is unknown, given twice, or not valid; `problems` names the parameter',
  invalid_precondition: '`If-Match`, `If-None-Match` or `Idempotency-Key` is not valid',
  not_found: 'no object or job has this id, or no dead letter has this key',
  defined_in_file: 'the configuration file defines the object, so it can be changed only in that file',
  encryption_key_missing: '`operator.encryptionKeyFile` is not set, so no object can be created or changed',
  rotation_in_progress:
    'the destination already has the maximum of two shared secrets; to replace both now, send `"overlap": "0s"`',
  too_many_keys:
    'the source already has the maximum of three write keys; set `keep` to the number of these keys that must stay valid',
  too_many_jobs: 'the maximum of 100 waiting or running replays and resends is reached, so no job was created',
  not_in_use: 'Hookline does not use the destination now, because its document has problems',
  in_use: 'the object was not deleted, because another object or a setting uses it; see `problems`',
  precondition_failed:
    'the condition of `If-Match` or `If-None-Match` is false: the object has another version, already exists, or does not exist; the header `ETag` of the response has the current version',
  invalid_object: 'the document is not valid; `problems` lists the problems (at most 100), and nothing was changed',
  idempotency_key_reused: 'an earlier request with this `Idempotency-Key` had another body, so no job was created',
  precondition_required: 'the object exists, and the request has no `If-Match`',
  unavailable:
    'the service could not process the request, for example because Kafka did not respond in time, or because too many test messages are in progress: send the request again later. If the request changes an object or a job, first read the object or job, because Hookline may have made the change',
}

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** The error responses of all operations, by name. */
export const refusalResponses: Record<string, object> = {}

/** References to error responses, by status. Adds the responses to `refusalResponses`. */
function refusals(codes: readonly ObjectRefusalCode[]): Readonly<Record<string, object>> {
  const ordered = (Object.keys(objectMeanings) as ObjectRefusalCode[]).filter(code => codes.includes(code))
  const byStatus = Object.groupBy(ordered, code => objectRefusalStatus[code])
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, own = []]) => {
      const name = `Object${own.map(nameOf).join('Or')}`
      refusalResponses[name] = {
        description: own.map(code => `\`${code}\`: ${objectMeanings[code]}.`).join('\n'),
        content: json({ ...ref('ObjectRefusal'), properties: { code: { enum: own } } }),
      }
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
}

/** For example `not_found` becomes `NotFound`. */
const nameOf = (code: string): string => code.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())

const ofOperators = {
  ...ofEveryRequest,
  401: response('InvalidOperatorKey'),
  403: response('Forbidden'),
  429: response('TooManyWrongKeys'),
}

interface Described {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly object[]
  /** The schema name of the body, and whether the body is required. */
  readonly body?: readonly [schema: string, required: boolean]
  /** The schema name of the 200 response. */
  readonly answer?: string
  readonly more?: Readonly<Record<string, object>>
  readonly codes?: readonly ObjectRefusalCode[]
}

/** One operation, with the error responses that every operator request can get. */
export const operation = ({
  id,
  summary,
  description,
  parameters,
  body,
  answer,
  more,
  codes = [],
}: Described): Operation => ({
  operationId: id,
  summary,
  ...(description !== undefined && { description }),
  tags: ['objects'],
  ...(parameters !== undefined && { parameters }),
  ...(body !== undefined && { requestBody: { required: body[1], content: json(ref(body[0])) } }),
  responses: {
    ...ofOperators,
    ...refusals(codes),
    ...(body !== undefined && { 413: response('TooLarge') }),
    ...(answer !== undefined && { 200: { description: 'Done.', content: json(ref(answer)) } }),
    ...more,
  },
})

/** An optional query parameter. */
export const inQuery = (name: string, schema: object, description: string) => ({
  name,
  in: 'query',
  schema,
  description,
})
