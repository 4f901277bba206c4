import type { ProblemCode } from '../../../src/adapters/http/response-codes-and-bodies.ts'
import type { Meanings } from './rejection-meanings.ts'

const sendAgain = 'Send the same request again, with the same message ids.'
export const problemMeanings: Meanings<ProblemCode> = {
  invalid_json: [
    'The body is not JSON. The operator API also refuses a body that has the same key twice. (A single invalid element of a batch is only [rejected](#rejected-messages).)',
    'Fix the sender.',
  ],
  invalid_body: [
    'The body is JSON, but not of the form that this path requires, or it is damaged gzip. For a deletion or a [sync](operator-api.md#syncs), this code can also mean that the query or a line of the list of users is not valid, or that the deletion exceeds [a limit](operator-api.md#deletions).',
    '`message` says what to send.',
  ],
  rejected: [
    'The request has `X-Strict-Mode: 1`, and at least one message is invalid, so none is accepted.',
    'Fix the messages in `rejected`.',
  ],
  unknown_source: ['A deletion names a source that is not configured.', 'Use a configured source.'],
  invalid_write_key: ['The write key is missing or belongs to no source.', 'Use the write key of a source.'],
  invalid_operator_key: ['The operator key is missing or wrong.', 'Use a key of `operator.keys`.'],
  invalid_session: [
    'The request has no session of the console, the session has ended, or its operator key was removed or rotated.',
    'Sign in again.',
  ],
  invalid_csrf_token: [
    'The request has a session cookie, but not the CSRF token of the session in `X-CSRF-Token`.',
    'Send the `csrfToken` of `GET /v1/session`, or use an operator key instead of the cookie.',
  ],
  cross_origin: [
    'A page of another origin sent the request with the session cookie, or tried to sign in.',
    'Use the console at the address of the operator API. A proxy in front of it must keep the header `Host`.',
  ],
  forbidden: [
    'The operator key has the role `read`, which permits only GET and HEAD requests.',
    'Use a key with the role `operate`.',
  ],
  not_found: [
    'The path does not exist, or no object has the id or key that is in the path.',
    'Check the path, and the id or key in it.',
  ],
  unknown_audience: ['`audiences.list` has no audience of this name.', 'Use a configured audience.'],
  method_not_allowed: ['The path does not support this method.', 'Use a method of the `Allow` header.'],
  payload_too_large: [
    'The request exceeds a [limit](tracking-api.md#responses) of bytes or messages.',
    'Send smaller batches.',
  ],
  rate_limited: [
    'The source exceeds `collector.ratePerSource`. At the operator API: too many requests had a wrong key.',
    'Wait for the time in `Retry-After`, as SDKs do.',
  ],
  unavailable: [
    'Kafka refuses a write or does not respond in time, the memory for request bodies is full, or too many requests are in progress. A [deletion](operator-api.md#deletions) can get this code for another reason, which is in `message`.',
    'Send the same request again, with the same message ids. If the request changes an object or a job, first read the object or list the jobs: Hookline may already have made the change.',
  ],
  malformed_request: [
    'The request is not valid HTTP/1.1, or its path is not a valid URL path. Hookline usually closes the connection.',
    'Fix the client.',
  ],
  request_timeout: ['The request took too long to arrive.', sendAgain],
  expectation_failed: ['The request has an `Expect` header other than `100-continue`.', 'Remove the header.'],
  headers_too_large: [
    'The request has more than 16 KiB of headers or more than 200 header fields.',
    'Send fewer headers.',
  ],
  internal_error: ['Hookline failed; the log has the error.', sendAgain],
}
