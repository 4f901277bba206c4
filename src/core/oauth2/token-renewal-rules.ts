import { parseRetryAfter } from '../network/retry-after.ts'
import type { Secret } from '../secret.ts'
import type { EpochMs } from '../time.ts'
import type { TokenFailure, TokenResult } from './token-response.ts'
import { tokenLimits } from './token-timing-constants.ts'

const { renewPart, maxRenewMs, unusedPart, maxUnusedMs, backoffMs, maxBackoffMs, maxRetryAfterMs } = tokenLimits
const { minReplaceIntervalIfFinalMs, minReplaceIntervalMs, acceptedForMs, deferRefusedForMs } = tokenLimits

/**
 * An access token. Compare tokens by object identity (`===`): the server may issue a new token with
 * the same `value`.
 */
export interface Token {
  readonly value: Secret
  /**
   * Monotonic ms from which a webhook request with the token also starts a request for a new token.
   */
  readonly renewAt: number
  /** Monotonic ms from which the token is not sent. */
  readonly expiresAt: number
}

/**
 * The access token of one destination, and when its next token request may start (`requestFrom`).
 * Times are monotonic milliseconds.
 */
export interface TokenCache {
  readonly token: Token | undefined
  /** Failed token requests since the last success. */
  readonly failures: number
  /** The failure of the last token request; `undefined` when it succeeded. */
  readonly failure: TokenFailure | undefined
  readonly requestFrom: number
  /**
   * For each webhook URL: when its endpoint last accepted a token. May be up to 1 s out of date.
   */
  readonly acceptedAt: ReadonlyMap<string, number>
  /**
   * For each webhook URL: when a token was last replaced because the endpoint responded with 401.
   */
  readonly replacedAt: ReadonlyMap<string, number>
  /**
   * For each webhook URL: when a token was replaced for the first time since the endpoint last
   * accepted a token.
   */
  readonly refusedSince: ReadonlyMap<string, number>
}

/**
 * Minimum milliseconds between two updates of `acceptedAt` for a URL, because each update copies
 * the whole map.
 */
const acceptedStepMs = 1_000

export const emptyTokenCache: TokenCache = {
  token: undefined,
  failures: 0,
  failure: undefined,
  requestFrom: Number.NEGATIVE_INFINITY,
  acceptedAt: new Map(),
  replacedAt: new Map(),
  refusedSince: new Map(),
}

export type TokenPlan =
  /** Use the token. With `renews`, also start a token request, but do not wait for it. */
  | { readonly kind: 'use'; readonly token: Token; readonly renews: boolean }
  | { readonly kind: 'request' }
  /** The last token request failed, and another token request must not start yet. */
  | { readonly kind: 'unavailable'; readonly failure: TokenFailure }

/** Decides whether a request uses the cached token, waits for a token request, or fails. */
export function planToken({ token, failure, requestFrom }: TokenCache, now: number): TokenPlan {
  const mayRequest = failure === undefined || now >= requestFrom
  if (token !== undefined && now < token.expiresAt)
    return { kind: 'use', token, renews: mayRequest && now >= token.renewAt }
  return mayRequest ? { kind: 'request' } : { kind: 'unavailable', failure }
}

/**
 * Returns the cache after a token request. The lifetime of a new token counts from `startedAt`, the
 * start of the request, because the server may have issued the token long before it responds.
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
  const { acceptedAt, replacedAt, refusedSince } = cache
  return { ...emptyTokenCache, token, acceptedAt, replacedAt, refusedSince }
}

/** Returns the cache after an endpoint has accepted a token. */
export function withAcceptance(cache: TokenCache, url: string, now: number): TokenCache {
  const { acceptedAt, refusedSince } = cache
  if (isWithin(acceptedStepMs, acceptedAt.get(url), now) && !refusedSince.has(url)) return cache
  const others = new Map([...refusedSince].filter(([refused]) => refused !== url))
  return { ...cache, acceptedAt: new Map(acceptedAt).set(url, now), refusedSince: others }
}

/** A response with 401 to a request with `token`. */
export interface Refusal {
  readonly token: Token
  /** The URL of the webhook. */
  readonly url: string
  /** Whether the refused request was already the second try, after a first 401. */
  readonly isRepeated: boolean
  readonly now: number
}

export type RefusalPlan =
  /** Send the request once more, with another token. */
  | { readonly kind: 'repeat'; readonly cache: TokenCache }
  /** The 401 counts as a retryable failure, because the endpoint may accept a later token. */
  | { readonly kind: 'defer' }
  /** The 401 counts as a rejection, because the endpoint would probably refuse every token. */
  | { readonly kind: 'final' }

/**
 * Decides what to do after a 401. Another process may have invalidated the token. So a 401 is final
 * only if two periods are over: `acceptedForMs` after the last accepted token, and
 * `deferRefusedForMs` after the first refused token.
 */
export function planAfterRefusal(cache: TokenCache, { token, url, isRepeated, now }: Refusal): RefusalPlan {
  // Another request has already replaced this token.
  if (cache.token !== token) return isRepeated ? { kind: 'defer' } : { kind: 'repeat', cache }
  const refusedSince = cache.refusedSince.get(url) ?? now
  const isUndecided =
    isWithin(acceptedForMs, cache.acceptedAt.get(url), now) || isWithin(deferRefusedForMs, refusedSince, now)
  const intervalMs = isUndecided ? minReplaceIntervalMs : minReplaceIntervalIfFinalMs
  if (isRepeated || isWithin(intervalMs, cache.replacedAt.get(url), now))
    return { kind: isUndecided ? 'defer' : 'final' }
  return {
    kind: 'repeat',
    cache: {
      ...cache,
      token: undefined,
      replacedAt: new Map(cache.replacedAt).set(url, now),
      refusedSince: new Map(cache.refusedSince).set(url, refusedSince),
    },
  }
}

const isWithin = (ms: number, since: number | undefined, now: number): boolean =>
  since !== undefined && now - since < ms
