import { durationMs } from '../time.ts'

/*
 * The constants that decide when an access token is requested. They are not configurable. The
 * comment of each constant gives its unit, the reason, and the effect of doubling the value.
 */
export const tokenLimits = {
  /**
   * Milliseconds for which an access token is valid when its `expires_in` is missing, and the
   * limits of `expires_in`. Doubling the minimum lets a short-lived token be refused more often;
   * each refusal costs one more request.
   */
  defaultLifetimeMs: 300_000,
  minLifetimeMs: 10_000,
  maxLifetimeMs: 86_400_000,
  /**
   * The part of the lifetime, and the maximum milliseconds, before the end of which a new token is
   * requested while the old one is still used. Doubling both requests tokens more often and
   * bridges a longer outage of the authorization server.
   */
  renewPart: 0.2,
  maxRenewMs: 60_000,
  /**
   * The part of the lifetime, and the maximum milliseconds, before the end of which a token is not
   * sent: a request takes up to 5 s, and clocks differ. Doubling both has no effect while tokens
   * are renewed in time.
   */
  unusedPart: 0.1,
  maxUnusedMs: 10_000,
  /**
   * Milliseconds between a failed token request and the next one. Each further wait is twice as
   * long, up to the maximum. Doubling them gives a broken authorization server less load, but
   * deliveries continue later after an outage.
   */
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  /** Maximum milliseconds that an authorization server can ask for with Retry-After. */
  maxRetryAfterMs: 300_000,
  /**
   * Minimum milliseconds between two token requests that one endpoint causes, because it refuses
   * every token with 401. Doubling it delays the moment at which the endpoint gets a token that it accepts.
   */
  replaceEveryMs: 60_000,
  /**
   * Milliseconds until a token request fails. Longer than a delivery waits, so that a slow token
   * server does provide a token, for later deliveries. Doubling it lets a token request that will
   * never be answered block the next one longer.
   */
  requestTimeout: durationMs(10_000),
} as const
