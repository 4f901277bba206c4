import type { Problem } from './response-types.ts'

/** A refusal by the operator API or, with status 0, an error without a response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** The stable code of the response, for example `not_found`. */
  readonly code: string
  readonly problems: readonly Problem[]

  constructor(status: number, code: string, message: string, problems: readonly Problem[] = []) {
    super(message)
    this.status = status
    this.code = code
    this.problems = problems
  }
}

/**
 * The error of a failed response, or of a response that is not from the operator API. `body` is its
 * parsed JSON.
 */
export function errorOf(status: number, body: unknown): ApiError {
  const { code, message, problems } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  return new ApiError(
    status,
    typeof code === 'string' ? code : 'unknown',
    typeof message === 'string'
      ? message
      : `A proxy, or another server, responded in place of the operator service (HTTP status ${status}): check the proxy and the operator service. If you sent a change, Hookline may have made it: check this before you repeat the change.`,
    Array.isArray(problems) ? (problems as Problem[]) : [],
  )
}

/** Converts any thrown value to an `ApiError`. */
export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError(0, 'internal', error instanceof Error ? error.message : String(error))
