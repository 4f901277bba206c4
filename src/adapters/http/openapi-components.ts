import type { operatorSchemas, schemas } from './openapi-schemas.ts'
import { type ProblemCode, problemStatus } from './responses.ts'

/** The descriptions of the error codes. */
const meanings = {
  malformed_request: 'the request is not valid HTTP/1.1',
  invalid_json: 'the body, or its only message, is not valid JSON',
  invalid_body: 'the body has no messages, or begins like gzip but cannot be unpacked',
  rejected:
    'in strict mode, or with a single message: a message was rejected, so nothing was stored; `rejected` has the reasons',
  unknown_source: '`sources` has an id that is not configured',
  invalid_operator_key: 'the request has no valid operator key',
  forbidden: 'the key has the role `read`, which allows GET and HEAD only',
  unknown_audience: '`audiences.list` has no audience with this name',
  invalid_write_key: 'the request has no write key, or no source has this write key',
  not_found: 'this path does not exist, or no source has the write key in it, or no deletion has the id in it',
  request_timeout: 'the request arrived too slowly; send the request again',
  payload_too_large:
    'the uncompressed body is larger than `collector.maxBodyBytes` (default: 4 MiB); send smaller batches',
  expectation_failed: 'the `Expect` header has a value other than `100-continue`',
  rate_limited:
    'the source sends more messages per second than `collector.ratePerSource`; send the request again after the time in `Retry-After`',
  headers_too_large: 'the request headers have more than 16 KiB or 200 fields',
  internal_error: 'an internal error of Hookline; send the request again later',
  unavailable:
    'Kafka did not acknowledge the records, or too many requests are in progress; send the request again later',
} as const satisfies Partial<Record<ProblemCode, string>>

type DescribedCode = keyof typeof meanings

export const schema = (name: keyof typeof schemas | keyof typeof operatorSchemas) => ({
  $ref: `#/components/schemas/${name}`,
})
export const json = (content: object) => ({ 'application/json': { schema: content } })

function refusal(...codes: readonly [DescribedCode, ...DescribedCode[]]): object {
  const status = problemStatus[codes[0]]
  return {
    description: codes.map(code => `\`${code}\`: ${meanings[code]}.`).join('\n'),
    ...((status === 429 || status === 503) && {
      headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } },
    }),
    content: json({ ...schema('Problem'), properties: { code: { enum: codes } } }),
  }
}

export const responses = {
  Accepted: { description: 'All in-sync replicas of Kafka have the messages.', content: json(schema('Accepted')) },
  Malformed: refusal('malformed_request'),
  NotTaken: refusal('invalid_json', 'invalid_body', 'rejected', 'malformed_request'),
  InvalidWriteKey: refusal('invalid_write_key'),
  NotFound: refusal('not_found'),
  DeletionNotTaken: refusal('invalid_json', 'invalid_body', 'unknown_source', 'malformed_request'),
  ListNotTaken: refusal('invalid_body', 'malformed_request'),
  InvalidOperatorKey: refusal('invalid_operator_key'),
  Forbidden: refusal('forbidden'),
  TooManyWrongKeys: {
    ...refusal('rate_limited'),
    description:
      '`rate_limited`: too many requests had no valid operator key; send a valid key after the time in `Retry-After`.',
  },
  UnknownAudience: refusal('unknown_audience', 'not_found'),
  Timeout: refusal('request_timeout'),
  TooLarge: refusal('payload_too_large'),
  ExpectationFailed: refusal('expectation_failed'),
  RateLimited: refusal('rate_limited'),
  HeadersTooLarge: refusal('headers_too_large'),
  InternalError: refusal('internal_error'),
  Unavailable: refusal('unavailable'),
}

export const response = (name: keyof typeof responses) => ({ $ref: `#/components/responses/${name}` })

export const ofEveryRequest = {
  400: response('Malformed'),
  408: response('Timeout'),
  417: response('ExpectationFailed'),
  431: response('HeadersTooLarge'),
  500: response('InternalError'),
  503: response('Unavailable'),
}

/** Converts the path of a route to that of OpenAPI: `/:id` → `/{id}` */
export const templateOf = (path: string): string => path.replace(/:(\w+)/, '{$1}')
export const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })

export const document = {
  get: {
    operationId: 'openapi',
    summary: 'This document',
    tags: ['settings'],
    security: [],
    responses: {
      ...ofEveryRequest,
      200: { description: 'OpenAPI 3.1.', content: json({ type: 'object' }) },
    },
  },
}
