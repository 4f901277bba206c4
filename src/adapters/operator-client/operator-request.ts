import { z } from 'zod'
import { isTlsFailure } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import { jsonValueIn } from '../../core/message/json.ts'
import type { Secret } from '../../core/secret.ts'

/** The URL of the operator API, and the operator key to send. */
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
/**
 * A problem that the API found in the body of a request. `path` is the field with the problem, for
 * example `webhooks[0].url`.
 */
export type AnsweredProblem = z.infer<typeof problem>

const refusal = z.object({ code: z.string(), message: z.string(), problems: z.array(problem).default([]) })

/**
 * The API refused the request because of its content, for example the id of an unknown destination.
 * Nothing was changed.
 */
export interface Refused {
  readonly kind: 'refused'
  readonly code: string
  readonly message: string
  readonly problems: readonly AnsweredProblem[]
}

export type OperatorAnswer = { readonly kind: 'answered'; readonly body: unknown } | Refused

/**
 * The operator API could not be used. `code` is one of the codes below, or the code of an error
 * response. After a code with *, the service may have carried out the request.
 * - `unreachable`: no connection could be opened.
 * - `no_response`*: the connection broke, or a proxy got no response.
 * - `timeout`*: no response arrived in time.
 * - `interrupted`*: the command was aborted.
 * - `bad_response`: the response is not in the format of the operator API.
 */
export class OperatorApiFailed extends Error {
  override readonly name = 'OperatorApiFailed'
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/**
 * HTTP statuses of errors in the content of a request, for example an unknown destination. All
 * other error statuses concern the client or the service.
 */
const contentErrorStatuses: readonly number[] = [400, 404, 409, 412, 413, 422, 428]
/** HTTP statuses with which a proxy responds while it gets no response from the service. */
const proxyStatuses: readonly number[] = [502, 503, 504]

export interface RequestLimits {
  /** Time limit of the whole request; 30,000 by default. */
  readonly timeoutMs?: number
  /** The request is cancelled when this signal is aborted. */
  readonly signal: AbortSignal
}

/**
 * Sends one request to the operator API, without retries.
 * @throws OperatorApiFailed, or the reason of `signal` if it is aborted during a `GET` request
 */
export async function sendToOperator(
  { url, key }: OperatorAddress,
  { method, path, headers = {}, body }: OperatorRequest,
  { timeoutMs = 30_000, signal }: RequestLimits,
): Promise<OperatorAnswer> {
  const limit = AbortSignal.timeout(timeoutMs)
  const advice =
    method === 'GET'
      ? '; run the command again'
      : '; the operator service may have carried out the request: check the result before you run the command again'
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
      // Do not follow redirects, because another server must not get the key.
      redirect: 'manual',
      signal: AbortSignal.any([limit, signal]),
    })
    text = await response.text()
  } catch (error) {
    // Only GET throws the abort reason itself: after other methods, the error must say that the
    // service may have carried out the request.
    if (method === 'GET') signal.throwIfAborted()
    if (signal.aborted)
      throw new OperatorApiFailed('interrupted', `interrupted before the response from ${url}${advice}`, error)
    if (limit.aborted)
      throw new OperatorApiFailed('timeout', `no response from ${url} within ${timeoutMs / 1_000} s${advice}`, error)
    throw connectionFailure(url, error, advice)
  }
  const parsed = jsonValueIn(text)
  if (response.status === 204) return { kind: 'answered', body: {} }
  if (response.ok && parsed !== undefined) return { kind: 'answered', body: parsed }
  const refused = refusal.safeParse(parsed)
  if (!refused.success && proxyStatuses.includes(response.status))
    throw new OperatorApiFailed(
      'no_response',
      `a proxy at ${url} responded with status ${response.status}, because it got no response from the operator service${advice}`,
    )
  if (!refused.success) throw badResponse(url, response.status)
  if (contentErrorStatuses.includes(response.status)) return { kind: 'refused', ...refused.data }
  throw failedWith(url, response, refused.data)
}

/** Codes of errors that occur before there is a connection to the server. */
const noConnectionCodes: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

function connectionFailure(url: string, error: unknown, advice: string): OperatorApiFailed {
  const { cause } = error as { cause?: { code?: string; syscall?: string; message?: string } }
  const { code = '', syscall } = cause ?? {}
  const detail = code || (cause?.message ?? (error as Error).message)
  if (detail === 'bad port')
    return new OperatorApiFailed(
      'unreachable',
      `no request was sent to ${url}, because browsers and Node's fetch() block this port (bad port); use another port in operator.listen and in the URL (--operator-url or HOOKLINE_OPERATOR_URL)`,
      error,
    )
  if (syscall !== 'connect' && !noConnectionCodes.includes(code) && !isTlsFailure(code))
    return new OperatorApiFailed('no_response', `no response from ${url} (${detail})${advice}`, error)
  return new OperatorApiFailed(
    'unreachable',
    `no connection to the operator API at ${url} (${detail}); start an operator service, or correct the URL (--operator-url or HOOKLINE_OPERATOR_URL); if the certificate is not trusted, name the file of its CA in NODE_EXTRA_CA_CERTS`,
    error,
  )
}

export const badResponse = (url: string, status: number): OperatorApiFailed =>
  new OperatorApiFailed(
    'bad_response',
    `the response of the server at ${url} (status ${status}) is not a response of the operator API; correct the URL (--operator-url or HOOKLINE_OPERATOR_URL), or use the hookline command of the same version as the operator service`,
  )

function failedWith(url: string, { status, headers }: Response, { code, message }: z.infer<typeof refusal>) {
  switch (code) {
    case 'invalid_operator_key':
      return new OperatorApiFailed(
        code,
        `the operator API at ${url} does not accept the operator key of this command; use a file with a key of operator.keys (--operator-key-file or HOOKLINE_OPERATOR_KEY_FILE)`,
      )
    case 'forbidden':
      return new OperatorApiFailed(code, 'the operator key has the role "read"; use a key with the role "operate"')
    case 'rate_limited':
      return new OperatorApiFailed(
        code,
        `the operator API rejects the requests of this command for ${headers.get('retry-after') ?? '1'} s, because too many requests had a wrong operator key; check the key, wait, then run the command again`,
      )
    default:
      // The final full stop is removed, because the text can continue after the message.
      return new OperatorApiFailed(
        code,
        `the operator API responded with status ${status} (${code}): ${message.replace(/\.$/, '')}`,
      )
  }
}
