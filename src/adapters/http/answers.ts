import { STATUS_CODES } from 'node:http'
import { type Refusal, type RejectedMessage, refusalStatus } from '../../core/message/refusal.ts'

/** Why a request is refused, with its status: what the tracking API says, and what goes wrong before it is asked. */
export const problemStatus = {
  ...refusalStatus,
  malformed_request: 400,
  request_timeout: 408,
  expectation_failed: 417,
  headers_too_large: 431,
  internal_error: 500,
} as const

export type ProblemCode = keyof typeof problemStatus

/** What an answer came to; the label in metrics. */
export type AnswerCode = 'ok' | 'preflight' | ProblemCode

/** An answer, ready to be written. */
export interface Answer {
  readonly code: AnswerCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const json = { 'content-type': 'application/json; charset=utf-8' } as const

/** 200 with a text that is JSON already. */
export const ok = (body: string): Answer => ({ code: 'ok', status: 200, headers: json, body })

/** 202 with a text that is JSON already: taken, and goes on. */
export const takenUp = (body: string): Answer => ({ ...ok(body), status: 202 })

const allTaken = ok('{"success":true}')

/** SDKs take nothing but 200 with a JSON object for success; what was rejected is told beside it, for those who read on. */
export const accepted = (rejected: readonly RejectedMessage[]): Answer =>
  rejected.length === 0 ? allTaken : ok(JSON.stringify({ success: true, rejected }))

interface Details {
  /** Seconds. */
  readonly retryAfter?: number | undefined
  readonly rejected?: readonly RejectedMessage[]
  /** What the path has: 405. */
  readonly allow?: string
}

/**
 * A refusal. `code`, `message` and `error` are always there: Python's SDK tries again what has no `code`, Ruby's shows `error`.
 * `message` is ours, never anything of the request.
 */
export function problem(
  code: ProblemCode,
  message: string,
  { retryAfter, rejected = [], allow }: Details = {},
): Answer {
  const status = problemStatus[code]
  return {
    code,
    status,
    headers: {
      ...json,
      ...((status === 429 || status === 503) && { 'retry-after': wholeSeconds(retryAfter) }),
      ...(allow !== undefined && { allow }),
      // RFC 9110 11.6.1
      ...(code === 'invalid_operator_key' && { 'www-authenticate': 'Bearer' }),
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

/** SDKs read whole seconds; 0 would have them come back at once. */
const wholeSeconds = (seconds = 1): string => String(Math.max(1, Math.ceil(seconds)))

export const refused = ({ code, message, retryAfter, rejected }: Refusal): Answer =>
  problem(code, message, { retryAfter, rejected })

/** An answer as bytes, for a connection on which there is no request to answer; it is the connection's last one. */
export function onTheWire({ status, headers, body }: Answer): string {
  const fields = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`
}
