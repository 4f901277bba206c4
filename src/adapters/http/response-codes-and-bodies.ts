import { STATUS_CODES } from 'node:http'
import { type Refusal, type RejectedMessage, refusalStatus } from '../../core/message/request-refusal.ts'
import { etagOf } from '../../core/operator/etag-precondition.ts'
import { type ObjectRefusal, type ObjectRefusalCode, objectRefusalStatus } from '../../core/operator/object-refusal.ts'

/** The HTTP status of each error code of the console's sessions. */
export const sessionStatus = { invalid_session: 401, invalid_csrf_token: 403, cross_origin: 403 } as const

/** The HTTP status of each error code. */
export const problemStatus = {
  ...refusalStatus,
  malformed_request: 400,
  ...sessionStatus,
  request_timeout: 408,
  expectation_failed: 417,
  headers_too_large: 431,
  internal_error: 500,
} as const

export type ProblemCode = keyof typeof problemStatus

/** The code of a response, used as a metric label. */
export type AnswerCode = 'ok' | 'preflight' | ProblemCode | ObjectRefusalCode

/** A response, ready to be written. */
export interface HttpResponse {
  readonly code: AnswerCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /**
   * The bytes of `body`, if many responses have the same long body. They share these bytes in
   * memory.
   */
  readonly bytes?: Buffer
}

const json = { 'content-type': 'application/json; charset=utf-8' } as const

/** A 200 response; `body` is JSON text. */
export const ok = (body: string): HttpResponse => ({ code: 'ok', status: 200, headers: json, body })

/** Adds `bytes` to a response with a long body that is sent repeatedly. */
export const inBytes = (answer: HttpResponse): HttpResponse => ({ ...answer, bytes: Buffer.from(answer.body) })

/** A 202 response for work that continues in the background; `body` is JSON text. */
export const acceptedForProcessing = (body: string): HttpResponse => ({ ...ok(body), status: 202 })

const allTaken = ok('{"success":true}')

/**
 * The response after messages were stored. It is a 200 even if it lists rejected messages, because
 * SDKs accept only a 200 with a JSON object as success.
 */
export const accepted = (rejected: readonly RejectedMessage[]): HttpResponse =>
  rejected.length === 0 ? allTaken : ok(JSON.stringify({ success: true, rejected }))

interface Details {
  /** The value of Retry-After, in seconds. */
  readonly retryAfter?: number | undefined
  readonly rejected?: readonly RejectedMessage[]
  /** The methods that the path supports, for a 405. */
  readonly allow?: string
}

/**
 * Creates an error response. The body has `code`, because Python's SDK retries responses without
 * it, and `error`, because Ruby's SDK shows this field. `message` must not repeat anything that the
 * client sent, except the method.
 */
export function problem(
  code: ProblemCode,
  message: string,
  { retryAfter, rejected = [], allow }: Details = {},
): HttpResponse {
  const status = problemStatus[code]
  return {
    code,
    status,
    headers: {
      ...json,
      ...((status === 429 || status === 503) && { 'retry-after': wholeSeconds(retryAfter) }),
      ...(allow !== undefined && { allow }),
      // RFC 9110 11.6.1 requires this header in a 401 response. `invalid_write_key` is an
      // exception: the header would have to name `Basic`, and browsers would show visitors a
      // password dialog.
      ...(status === 401 && code !== 'invalid_write_key' && { 'www-authenticate': 'Bearer' }),
    },
    body: JSON.stringify({
      success: false,
      code,
      message,
      error: message,
      ...(rejected.length > 0 && { rejected }),
    }),
  }
}

/**
 * The value of Retry-After: whole seconds, because SDKs cannot read fractions, and at least 1,
 * because SDKs would retry immediately with 0.
 */
const wholeSeconds = (seconds = 1): string => String(Math.max(1, Math.ceil(seconds)))

export const refused = ({ code, message, retryAfter, rejected }: Refusal): HttpResponse =>
  problem(code, message, { retryAfter, rejected })

/** The error response of the routes for configuration objects: `{ code, message, problems }`. */
export function objectProblem({ code, message, problems, version, retryAfter }: ObjectRefusal): HttpResponse {
  return {
    code,
    status: objectRefusalStatus[code],
    headers: {
      ...json,
      ...(code === 'unavailable' && { 'retry-after': wholeSeconds(retryAfter) }),
      ...(version !== undefined && { etag: etagOf(version) }),
    },
    body: JSON.stringify({ code, message, problems }),
  }
}

/** Converts a response of `problem` to the format of `objectProblem`. */
export function toObjectFormat(answer: HttpResponse): HttpResponse {
  const { code, message } = JSON.parse(answer.body) as { readonly code: string; readonly message: string }
  return { ...answer, body: JSON.stringify({ code, message, problems: [] }) }
}

/** Formats a response as text, for a connection without a parsed request. */
export function toHttpText({ status, headers, body }: HttpResponse): string {
  const fields = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`
}
