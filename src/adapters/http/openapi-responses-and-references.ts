import type { deletionAndSyncSchemas } from './openapi-deletion-and-sync-schemas.ts'
import type { schemas } from './openapi-tracking-schemas.ts'
import { type ProblemCode, problemStatus } from './response-codes-and-bodies.ts'

const meanings = {
  malformed_request:
    'the request is not valid HTTP/1.1, its path has invalid percent-encoding, or its body has too many small chunks',
  invalid_json: 'the body is not valid JSON',
  invalid_body:
    'the body does not have the form that this path requires, its gzip is damaged, or a query parameter is invalid; `message` says what to correct',
  rejected:
    'the request has `X-Strict-Mode: 1`, and at least one message is invalid, so nothing was stored; `rejected` has the reasons',
  unknown_source: '`sources` has the id of a source that is not configured',
  invalid_operator_key: 'the request has no valid operator key',
  forbidden: 'the operator key has the role `read`, which allows GET and HEAD only',
  unknown_audience: 'the configuration has no audience with this name (see `audiences.list`)',
  invalid_write_key: 'the request has no write key, or no source has this write key',
  not_found:
    'this path does not exist, or no source has the write key in the path, or no deletion with the id in the path was found',
  request_timeout: 'the request arrived too slowly; send the request again',
  payload_too_large:
    'the body exceeds a limit, such as `collector.maxBodyBytes` (default: 4 MiB uncompressed); `message` says which limit, and what to send',
  expectation_failed: 'the `Expect` header has a value other than `100-continue`',
  rate_limited:
    'the source sends this process more messages per second than `collector.ratePerSource` allows; send the request again after the time in `Retry-After`',
  headers_too_large: 'the request headers have more than 16 KiB or 200 fields',
  internal_error: 'an internal error of Hookline; send the request again later',
  unavailable:
    'Kafka is unavailable, or too many requests are in progress, or the process is shutting down; send the request again after the time in `Retry-After`',
} as const satisfies Partial<Record<ProblemCode, string>>

type DescribedCode = keyof typeof meanings

export const schema = (name: keyof typeof schemas | keyof typeof deletionAndSyncSchemas) => ({
  $ref: `#/components/schemas/${name}`,
})
export const json = (content: object) => ({ 'application/json': { schema: content } })

function refusal(...codes: readonly [DescribedCode, ...DescribedCode[]]): object {
  const status = problemStatus[codes[0]]
  return {
    description: codes.map(code => `\`${code}\`: ${meanings[code]}.`).join('\n'),
    ...((status === 429 || status === 503) && {
      headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait.' } },
    }),
    content: json({ ...schema('Problem'), properties: { code: { enum: codes } } }),
  }
}

export const responses = {
  Accepted: {
    description: 'Kafka has stored the accepted messages (in all in-sync replicas).',
    content: json(schema('Accepted')),
  },
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
      '`rate_limited`: too many requests from this address, or from all addresses together, had a wrong operator key; send a valid key after the time in `Retry-After`.',
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

/** Converts a route path to that of OpenAPI: `/:id` → `/{id}` */
export const templateOf = (path: string): string => path.replace(/:(\w+)/, '{$1}')
export const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })

export const document = {
  get: {
    operationId: 'openapi',
    summary: 'Show this document, which describes the API as OpenAPI 3.1',
    tags: ['settings'],
    security: [],
    responses: {
      ...ofEveryRequest,
      200: { description: 'OpenAPI 3.1.', content: json({ type: 'object' }) },
    },
  },
}
