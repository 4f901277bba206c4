import { classify, type Outcome } from '../delivery/outcomes-reasons-and-classification.ts'
import { objectIn } from '../message/json.ts'
import { Secret } from '../secret.ts'
import { isBearerToken } from '../settings/sendable-keys-and-tokens.ts'
import { type DurationMs, durationMs } from '../time.ts'
import type { TokenAnswer } from '../webhook-ports.ts'
import { tokenLimits } from './token-timing-constants.ts'

const { defaultLifetimeMs, minLifetimeMs, maxLifetimeMs } = tokenLimits

/** Why a token request failed. `detail` is one line for the log, without any secret. */
export interface TokenFailure {
  /** One of the outcomes of a webhook request, for example `http_4xx` or `timeout`. */
  readonly outcome: Exclude<Outcome, 'delivered'>
  readonly detail: string
  /** The value of the response's Retry-After header, unparsed. */
  readonly retryAfter: string | undefined
}

/** The result of a token request. */
export type TokenResult =
  | { readonly kind: 'issued'; readonly value: Secret; readonly lifetime: DurationMs }
  | { readonly kind: 'failed'; readonly failure: TokenFailure }

const failed = (
  outcome: TokenFailure['outcome'],
  detail: string,
  retryAfter: string | undefined = undefined,
): TokenResult => ({ kind: 'failed', failure: { outcome, detail, retryAfter } })

/**
 * Reads the response to a token request (RFC 6749 5.1 and 5.2). Accepts a missing `token_type`, and
 * `expires_in` as text, because some servers respond like this.
 */
export function parseTokenResponse(answer: TokenAnswer): TokenResult {
  if (answer.kind === 'failed') {
    const outcome = classify(answer)
    return failed(outcome === 'delivered' ? 'internal' : outcome, answer.detail)
  }
  const { status, retryAfter, body } = answer
  const outcome = classify({ kind: 'answered', status, retryAfter })
  const fields = objectIn(body)
  if (outcome !== 'delivered')
    return failed(outcome, `the token endpoint responded with ${status}${errorCodeIn(fields)}`, retryAfter)
  if (fields === undefined) return failed('bad_response', 'the response of the token endpoint is not a JSON object')
  const { access_token: value, token_type: type = 'Bearer', expires_in: seconds } = fields
  if (typeof value !== 'string') return failed('bad_response', 'the response of the token endpoint has no access_token')
  if (!isSendable(value))
    return failed(
      'bad_response',
      'the access_token in the response of the token endpoint is empty, is too long, or has characters that are not allowed in a header',
    )
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    return failed('bad_response', 'the token_type in the response of the token endpoint is not Bearer')
  return { kind: 'issued', value: new Secret(value), lifetime: lifetimeOf(seconds) }
}

/** Maximum length of a token, in characters: most servers reject longer headers. */
const maxTokenLength = 8_192

const isSendable = (value: string): boolean => value.length <= maxTokenLength && isBearerToken(value)

/**
 * Converts `expires_in` (`seconds`) to ms, and limits it to the range from `minLifetimeMs` to
 * `maxLifetimeMs`. Returns `defaultLifetimeMs` if `expires_in` is not valid.
 */
function lifetimeOf(seconds: unknown): DurationMs {
  const given: unknown = typeof seconds === 'string' && /^\d{1,12}$/.test(seconds) ? Number(seconds) : seconds
  if (typeof given !== 'number') return durationMs(defaultLifetimeMs)
  return durationMs(Math.min(Math.max(given * 1_000, minLifetimeMs), maxLifetimeMs))
}

/**
 * Returns the error code for the log: only known codes, because another text could repeat the
 * client secret.
 */
function errorCodeIn(fields: Readonly<Record<string, unknown>> | undefined): string {
  const code = fields?.['error']
  return typeof code === 'string' && standardErrors.has(code) ? ` ${code}` : ''
}

/** The error codes of RFC 6749 5.2, and two for a failed or overloaded server. */
const standardErrors: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
])
