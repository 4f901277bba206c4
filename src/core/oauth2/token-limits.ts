import { durationMs } from '../time.ts'

/*
 * The constants that decide when an access token is requested. They are not configurable. The
 * comment of each constant gives its unit, the reason, and the effect of doubling the value.
 */
export const tokenLimits = {
  /**
   * Lifetime of an access token without `expires_in`, and the limits of `expires_in`, in ms.
   * Doubling the minimum lets endpoints refuse a short-lived token more often. Each refusal costs
   * one more request.
   */
  defaultLifetimeMs: 300_000,
  minLifetimeMs: 10_000,
  maxLifetimeMs: 86_400_000,
  /**
   * The time before the end of a token's lifetime at which a new token is requested: `renewPart` of
   * the lifetime, at most `maxRenewMs` in ms. The old token is used until the new one arrives.
   * Doubling both requests tokens more often, and bridges a longer outage of the authorization
   * server.
   */
  renewPart: 0.2,
  maxRenewMs: 60_000,
  /**
   * The time before the end of a token's lifetime from which it is no longer sent: `unusedPart` of
   * the lifetime, at most `maxUnusedMs` in ms. The token must still be valid when the endpoint
   * checks it: a request takes up to 5 s, and clocks differ. Doubling both has no effect while
   * tokens are renewed in time.
   */
  unusedPart: 0.1,
  maxUnusedMs: 10_000,
  /**
   * Wait after a failed token request, in ms. Each further wait is twice as long, up to the
   * maximum. Doubling both gives a broken authorization server less load, but deliveries continue
   * later after an outage.
   */
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  /** Maximum wait that an authorization server can request with Retry-After, in ms. */
  maxRetryAfterMs: 300_000,
  /**
   * Minimum time between two token requests for one endpoint that refuses every token with 401, in
   * ms. After a doubling, an endpoint that would accept a new token gets it later.
   */
  replaceEveryMs: 60_000,
  /**
   * Timeout of a token request. It is longer than the time for which a delivery waits, so a slow
   * authorization server still provides a token for later deliveries. After a doubling, a token
   * request without a response delays the next one longer.
   */
  requestTimeout: durationMs(10_000),
} as const
