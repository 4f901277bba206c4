import type { Metrics } from '../../core/metrics/metrics.ts'
import {
  emptyTokenCache,
  planAfterRefusal,
  planToken,
  type Refusal,
  type RefusalPlan,
  type Token,
  type TokenCache,
  withAcceptance,
  withResult,
} from '../../core/oauth2/token-renewal-rules.ts'
import { tokenRequest } from '../../core/oauth2/token-request.ts'
import { parseTokenResponse, type TokenFailure, type TokenResult } from '../../core/oauth2/token-response.ts'
import type { Cancel, Clock, Logger } from '../../core/ports.ts'
import type { OAuth2Settings } from '../../core/settings/settings.ts'
import type { DurationMs } from '../../core/time.ts'
import type { TokenClient } from '../../core/webhook-ports.ts'

export interface TokenSourceDeps {
  readonly client: Pick<TokenClient, 'post'>
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'tokenRequests'>
  readonly logger: Logger
  readonly userAgent: () => string
}

/** The result of a wait for a token. */
export type TokenOutcome =
  | { readonly kind: 'token'; readonly token: Token }
  | { readonly kind: 'failed'; readonly failure: TokenFailure }

interface Waiting {
  readonly onEnd: (outcome: TokenOutcome) => void
  readonly cancelTimer: Cancel
}

/**
 * The access tokens of one destination. All deliveries that need a token share one token request.
 */
export class TokenSource {
  readonly settings: OAuth2Settings
  readonly #destination: string
  readonly #deps: TokenSourceDeps
  #cache: TokenCache = emptyTokenCache
  #isRequesting = false
  #waiting = new Set<Waiting>()

  constructor(destination: string, settings: OAuth2Settings, deps: TokenSourceDeps) {
    this.#destination = destination
    this.settings = settings
    this.#deps = deps
  }

  /** Returns the token to send now; `undefined` when the caller must call `wait` first. */
  current(): Token | undefined {
    const plan = planToken(this.#cache, this.#deps.clock.monotonic())
    if (plan.kind !== 'use') return undefined
    if (plan.renews) this.#request()
    return plan.token
  }

  /**
   * Waits for a token for at most `timeout`. Calls `onEnd` once, and only after `wait` has
   * returned.
   */
  wait(timeout: DurationMs, onEnd: (outcome: TokenOutcome) => void): void {
    const { clock } = this.#deps
    const plan = planToken(this.#cache, clock.monotonic())
    switch (plan.kind) {
      case 'use':
        clock.soon(() => onEnd({ kind: 'token', token: plan.token }))
        return
      case 'unavailable':
        clock.soon(() => onEnd({ kind: 'failed', failure: plan.failure }))
        return
      case 'request': {
        const waiting: Waiting = {
          onEnd,
          cancelTimer: clock.after(timeout, () => {
            this.#waiting.delete(waiting)
            onEnd({ kind: 'failed', failure: tooSlow })
          }),
        }
        this.#waiting.add(waiting)
        this.#request()
      }
    }
  }

  accepted(url: string): void {
    this.#cache = withAcceptance(this.#cache, url, this.#deps.clock.monotonic())
  }

  /**
   * Notes that an endpoint has refused a token with 401. Returns what happens to the request next.
   */
  refused(refusal: Omit<Refusal, 'now'>): RefusalPlan['kind'] {
    const plan = planAfterRefusal(this.#cache, { ...refusal, now: this.#deps.clock.monotonic() })
    if (plan.kind === 'repeat') this.#cache = plan.cache
    return plan.kind
  }

  #request(): void {
    if (this.#isRequesting) return
    const { client, clock, userAgent } = this.#deps
    this.#isRequesting = true
    const startedAt = clock.monotonic()
    client.post(tokenRequest(this.settings, userAgent()), answer => {
      this.#isRequesting = false
      this.#received(parseTokenResponse(answer), startedAt)
    })
  }

  #received(result: TokenResult, startedAt: number): void {
    const { clock } = this.#deps
    const [before, now] = [this.#cache, clock.monotonic()]
    this.#cache = withResult(before, result, { startedAt, now, wallClock: clock.now() })
    this.#report(result, before.failures > 0, this.#cache.requestFrom - now)
    const { token } = this.#cache
    const outcome: TokenOutcome | undefined = result.kind === 'failed' ? result : token && { kind: 'token', token }
    if (outcome === undefined) throw new TypeError('a token request succeeded, but the cache has no new token')
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const { onEnd, cancelTimer } of waiting) {
      cancelTimer()
      onEnd(outcome)
    }
  }

  #report(result: TokenResult, hadFailed: boolean, retryInMs: number): void {
    const { metrics, logger } = this.#deps
    const destination = this.#destination
    if (result.kind === 'issued') {
      metrics.tokenRequests.inc({ destination, outcome: 'issued' })
      if (hadFailed)
        logger.info(
          { destination },
          'token request succeeded after failures; deliveries in retry topics keep the times of their next attempts',
        )
      return
    }
    const { outcome, detail } = result.failure
    metrics.tokenRequests.inc({ destination, outcome })
    logger.warn(
      { destination, outcome, detail, retryInMs: Math.round(retryInMs) },
      'token request failed (see "detail"), and hookline tries again; until the destination has a valid access token, its deliveries wait, but not beyond their retry window; check auth.oauth2 and the authorization server',
    )
  }
}

const tooSlow: TokenFailure = {
  outcome: 'timeout',
  detail: 'the token endpoint did not respond within the time limit of the webhook request',
  retryAfter: undefined,
}
