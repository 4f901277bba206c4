import { parseRetryAfter } from '../network/retry-after.ts'
import type { Secret } from '../secret.ts'
import type { EpochMs } from '../time.ts'
import { tokenLimits } from './token-limits.ts'
import type { TokenFailure, TokenResult } from './token-response.ts'

const { renewPart, maxRenewMs, unusedPart, maxUnusedMs, backoffMs, maxBackoffMs, maxRetryAfterMs, replaceEveryMs } =
  tokenLimits

/** An access token. Two tokens are the same only if they are the same object. */
export interface Token {
  readonly value: Secret
  /** From this time on, the next request also starts the request for a new token. */
  readonly renewAt: number
  /** From this time on, the token is not sent. */
  readonly expiresAt: number
}

/**
 * The token of one destination, and when the next token request may start. Times are monotonic
 * milliseconds.
 *
 * A token request starts when there is no token, or a little before the token expires: then the old
 * token is used until the new one is there. After a failed token request, the next one waits 1 s,
 * then 2 s, and so on up to a minute, so that deliveries do not flood an authorization server that
 * fails.
 */
export interface TokenCache {
  readonly token: Token | undefined
  /** Failed token requests since the last success. */
  readonly failures: number
  /** The failure of the last token request; `undefined` when it succeeded. */
  readonly failure: TokenFailure | undefined
  readonly requestFrom: number
  /** The webhook URLs whose endpoint has accepted the current token. */
  readonly acceptedBy: readonly string[]
  /**
   * The webhook URLs whose endpoint refused a token, with the time from which it may refuse a token
   * that was requested for that reason. Until then, an endpoint that refuses every token causes no
   * further token requests.
   */
  readonly replaceFrom: ReadonlyMap<string, number>
}

export const emptyTokenCache: TokenCache = {
  token: undefined,
  failures: 0,
  failure: undefined,
  requestFrom: Number.NEGATIVE_INFINITY,
  acceptedBy: [],
  replaceFrom: new Map(),
}

export type TokenPlan =
  /** `renews`: also start a token request. */
  | { readonly kind: 'use'; readonly token: Token; readonly renews: boolean }
  | { readonly kind: 'request' }
  /** The last token request failed, and the next one must not start yet. */
  | { readonly kind: 'unavailable'; readonly failure: TokenFailure }

/** Decides where the token of a request comes from. */
export function planToken({ token, failure, requestFrom }: TokenCache, now: number): TokenPlan {
  const mayRequest = failure === undefined || now >= requestFrom
  if (token !== undefined && now < token.expiresAt)
    return { kind: 'use', token, renews: mayRequest && now >= token.renewAt }
  return mayRequest ? { kind: 'request' } : { kind: 'unavailable', failure }
}

/**
 * The cache after a token request. `startedAt` is when it started: the token is valid for its
 * lifetime from some time after that. `wallClock` is for a Retry-After with a date.
 */
export function withResult(
  cache: TokenCache,
  result: TokenResult,
  { startedAt, now, wallClock }: { readonly startedAt: number; readonly now: number; readonly wallClock: EpochMs },
): TokenCache {
  if (result.kind === 'failed') {
    const failures = cache.failures + 1
    const backoff = Math.min(backoffMs * 2 ** (failures - 1), maxBackoffMs)
    const asked = Math.min(parseRetryAfter(result.failure.retryAfter, wallClock) ?? 0, maxRetryAfterMs)
    return { ...cache, failures, failure: result.failure, requestFrom: now + Math.max(backoff, asked) }
  }
  const { value, lifetime } = result
  const token = {
    value,
    renewAt: startedAt + lifetime - Math.min(lifetime * renewPart, maxRenewMs),
    expiresAt: startedAt + lifetime - Math.min(lifetime * unusedPart, maxUnusedMs),
  }
  return { ...emptyTokenCache, token, replaceFrom: cache.replaceFrom }
}

/** The cache after an endpoint has accepted a token. */
export function withAcceptance(cache: TokenCache, token: Token, url: string): TokenCache {
  if (cache.token !== token || cache.acceptedBy.includes(url)) return cache
  const replaceFrom = cache.replaceFrom.has(url)
    ? new Map([...cache.replaceFrom].filter(([refusing]) => refusing !== url))
    : cache.replaceFrom
  return { ...cache, acceptedBy: [...cache.acceptedBy, url], replaceFrom }
}

export type RefusalPlan =
  /** Send the request once more, with another token. */
  | { readonly kind: 'repeat'; readonly cache: TokenCache }
  /** Another token would not help: the 401 is the result. */
  | { readonly kind: 'final' }

/** Decides what follows when an endpoint has refused a token with 401. */
export function planAfterRefusal(cache: TokenCache, token: Token, url: string, now: number): RefusalPlan {
  // Another request has already replaced this token.
  if (cache.token !== token) return { kind: 'repeat', cache }
  const isRevoked = cache.acceptedBy.includes(url)
  if (!isRevoked && now < (cache.replaceFrom.get(url) ?? Number.NEGATIVE_INFINITY)) return { kind: 'final' }
  const replaceFrom = new Map(cache.replaceFrom).set(url, now + replaceEveryMs)
  return { kind: 'repeat', cache: { ...cache, token: undefined, acceptedBy: [], replaceFrom } }
}
