import { type ProblemCode, problemStatus } from './answers.ts'
import type { operatorSchemas, schemas } from './openapi-schemas.ts'

/** What each code means, for those who read the document. */
const meanings = {
  malformed_request: 'no valid HTTP/1.1',
  invalid_json: 'the body, or the only message, is not JSON',
  invalid_body: 'the body holds no message, or begins like gzip and is none',
  rejected: 'strict mode, or the only message of the request: it is not taken, and `rejected` says why',
  unknown_source: '`sources` names one that is not configured',
  invalid_operator_key: 'it is not an operator key, or there is none in the request',
  forbidden: 'the key has the role `read`',
  unknown_audience: '`audiences.list` has none of this name',
  invalid_write_key: 'no source has this write key, or there is none in the request',
  not_found: 'there is nothing at this path, or no source has this write key',
  request_timeout: 'the request came too slowly; send it again',
  payload_too_large: 'the body has more bytes, unpacked, than `collector.maxBodyBytes` (4 MiB); send smaller batches',
  expectation_failed: 'an `Expect` other than 100-continue',
  rate_limited: 'the source sends more messages a second than `collector.ratePerSource`',
  headers_too_large: 'more than 16 KiB or 200 header fields',
  internal_error: 'our fault; send it again later',
  unavailable: 'Kafka did not take it, or too much is under way; send it again later',
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
  Accepted: { description: 'All replicas of Kafka have it.', content: json(schema('Accepted')) },
  Malformed: refusal('malformed_request'),
  NotTaken: refusal('invalid_json', 'invalid_body', 'rejected', 'malformed_request'),
  InvalidWriteKey: refusal('invalid_write_key'),
  NotFound: refusal('not_found'),
  DeletionNotTaken: refusal('invalid_json', 'invalid_body', 'unknown_source', 'malformed_request'),
  ListNotTaken: refusal('invalid_body', 'malformed_request'),
  InvalidOperatorKey: refusal('invalid_operator_key'),
  Forbidden: refusal('forbidden'),
  TooManyWrongKeys: refusal('rate_limited'),
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

/** `/:id` → `/{id}` */
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
