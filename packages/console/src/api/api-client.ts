import { ApiError, errorOf } from './api-error.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Change {
  readonly body?: unknown
  /**
   * The version on which the change is based; `absent` for a new object. The operator API refuses
   * the change if the object has another version.
   */
  readonly expects?: number | 'absent'
  /** Requests with the same key and body create only one job. */
  readonly idempotencyKey?: string
}

/**
 * Sends requests to the operator API with the session cookie. A failed request rejects with
 * `ApiError`, an aborted one with the reason of its signal.
 */
export interface ApiClient {
  get<T>(path: string, signal?: AbortSignal): Promise<T>
  change<T>(method: Method, path: string, change?: Change): Promise<T>
}

export interface ApiClientDeps {
  readonly fetch: typeof fetch
  /** The CSRF token of the session, which every change must send. */
  readonly csrfToken: () => string | undefined
  /** Called on status 401: the session is missing or has ended, or the operator key is wrong. */
  readonly onSignedOut: () => void
  /**
   * Called when the operator API refuses the CSRF token: the user signed in again in another tab,
   * so the cookie belongs to another session.
   */
  readonly onOtherSession: () => void
}

export function createApiClient({ fetch, csrfToken, onSignedOut, onOtherSession }: ApiClientDeps): ApiClient {
  async function request<T>(path: string, init: RequestInit): Promise<T> {
    let response: Response
    let text: string
    try {
      response = await fetch(path, { ...init, credentials: 'same-origin' })
      text = await response.text()
    } catch (error) {
      if (init.signal?.aborted === true) throw error
      throw new ApiError(
        0,
        'no_response',
        'The operator service does not respond. If you sent a change, Hookline may have made it: check this before you repeat the change.',
      )
    }
    const body = parsed(text)
    if (response.status === 401) onSignedOut()
    if (response.status === 204) return {} as T
    if (response.ok && body !== undefined) return body as T
    const error = errorOf(response.status, body)
    if (error.code !== 'invalid_csrf_token') throw error
    onOtherSession()
    throw new ApiError(
      error.status,
      error.code,
      'You have signed in again in another tab, and this page now uses the new session. Hookline did not carry out your action: repeat it.',
    )
  }
  return {
    get: (path, signal) => request(path, signal === undefined ? {} : { signal }),
    change: (method, path, { body, expects, idempotencyKey } = {}) =>
      request(path, {
        method,
        headers: headersOf(csrfToken(), { body, expects, idempotencyKey }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  }
}

function headersOf(
  token: string | undefined,
  { body, expects, idempotencyKey }: { readonly [name in keyof Change]: Change[name] | undefined },
): Record<string, string> {
  return {
    ...(token === undefined ? {} : { 'X-CSRF-Token': token }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(expects === 'absent' ? { 'If-None-Match': '*' } : {}),
    ...(typeof expects === 'number' ? { 'If-Match': `"${expects}"` } : {}),
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
  }
}

/** Returns `undefined` for a body that is not JSON, for example the error page of a proxy. */
function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
