import { z } from 'zod'
import type { Secret } from '../../core/secret.ts'

/** Where the operator API is, and with which key. */
export interface OperatorAddress {
  /** Base URL, without a slash at its end. */
  readonly url: string
  readonly key: Secret
}

export interface OperatorRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path with encoded ids, and the query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | undefined
}

const problem = z.object({ path: z.string(), message: z.string(), hint: z.string() })
/** One problem of a document. `path` is formatted, for example `webhooks[0].url`. */
export type AnsweredProblem = z.infer<typeof problem>

/** An error response of the operator API. */
const refusal = z.object({ code: z.string(), message: z.string(), problems: z.array(problem).default([]) })

/** The API refused the request about this object, and nothing was changed. */
export interface Refused {
  readonly kind: 'refused'
  readonly code: string
  readonly message: string
  readonly problems: readonly AnsweredProblem[]
}

export type OperatorAnswer = { readonly kind: 'answered'; readonly body: unknown } | Refused

/**
 * The operator API could not be used: nothing listens, the key has no right, or the response is not
 * one of the API. `code` is `unreachable`, `timeout`, `bad_response`, or the code of the response.
 */
export class OperatorApiFailed extends Error {
  override readonly name = 'OperatorApiFailed'
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** Statuses whose response is about the object, not about the client or the service. */
const objectStatuses: readonly number[] = [400, 404, 409, 412, 413, 422, 428]

interface Limits {
  /** Time limit of the whole request, in milliseconds. */
  readonly timeoutMs: number
  /** Cancels requests. */
  readonly signal: AbortSignal
}

/**
 * Sends one request to the operator API. It is never repeated.
 * @throws OperatorApiFailed; the reason of `signal` when it is aborted
 */
export async function sendToOperator(
  { url, key }: OperatorAddress,
  { method, path, headers = {}, body }: OperatorRequest,
  { timeoutMs, signal }: Limits,
): Promise<OperatorAnswer> {
  const limit = AbortSignal.timeout(timeoutMs)
  let response: Response
  let text: string
  try {
    response = await fetch(`${url}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${key.reveal()}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      // Another server must not get the key.
      redirect: 'manual',
      signal: AbortSignal.any([limit, signal]),
    })
    text = await response.text()
  } catch (error) {
    signal.throwIfAborted()
    if (!limit.aborted) throw unreachable(url, error)
    const effect = method === 'GET' ? '' : '; the change may be in force nevertheless'
    throw new OperatorApiFailed('timeout', `no response from ${url} within ${timeoutMs / 1_000} s${effect}`, error)
  }
  const parsed = parsedJson(text)
  if (response.status === 204) return { kind: 'answered', body: {} }
  if (response.ok && parsed !== undefined) return { kind: 'answered', body: parsed }
  const refused = refusal.safeParse(parsed)
  if (!refused.success) throw badResponse(url, response.status)
  if (objectStatuses.includes(response.status)) return { kind: 'refused', ...refused.data }
  throw failedWith(url, response, refused.data)
}

function unreachable(url: string, error: unknown): OperatorApiFailed {
  const { cause } = error as { cause?: { code?: string; message?: string } }
  const detail = cause?.code ?? cause?.message ?? (error as Error).message
  return new OperatorApiFailed(
    'unreachable',
    `no connection to the operator API at ${url} (${detail}); start an operator service, or correct --operator-url`,
    error,
  )
}

export const badResponse = (url: string, status: number): OperatorApiFailed =>
  new OperatorApiFailed(
    'bad_response',
    `the response of ${url} (status ${status}) is not one of an operator API; correct --operator-url, or use the version of the services`,
  )

function failedWith(url: string, { status, headers }: Response, { code, message }: z.infer<typeof refusal>) {
  switch (code) {
    case 'invalid_operator_key':
      return new OperatorApiFailed(
        code,
        `the operator API at ${url} does not accept this key; use the file of a key in operator.keys`,
      )
    case 'forbidden':
      return new OperatorApiFailed(code, 'the operator key has the role read; use a key with the role operate')
    case 'rate_limited':
      return new OperatorApiFailed(
        code,
        `the operator API rejects requests after too many wrong keys; wait ${headers.get('retry-after') ?? '1'} s`,
      )
    default:
      // The text continues a line.
      return new OperatorApiFailed(
        code,
        `the operator API responded ${status} (${code}): ${message.replace(/\.$/, '')}`,
      )
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
