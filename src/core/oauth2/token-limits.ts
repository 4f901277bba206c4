import { durationMs } from '../time.ts'

/*
 * The constants that decide when an access token is requested. They are not configurable. The
 * comment of each constant gives its unit, the reason, and the effect of doubling the value.
 */
export const tokenLimits = {
  /**
   * `defaultLifetimeMs` is the lifetime of an access token whose response has no valid
   * `expires_in`. The other two constants are the minimum and maximum that Hookline assumes,
   * whatever `expires_in` says. All are in ms. The minimum limits the number of token requests. If
   * a token really expires earlier, the endpoint refuses it with 401, which costs one more request.
   * Doubling the minimum causes more of these refusals.
   */
  defaultLifetimeMs: 300_000,
  minLifetimeMs: 10_000,
  maxLifetimeMs: 86_400_000,
  /**
   * The time before the end of a token's lifetime at which a new token is requested: `renewPart` of
   * the lifetime, but at most `maxRenewMs` (in ms). The old token is used until the new one
   * arrives. Doubling both constants requests tokens more often. Deliveries can then survive a
   * longer outage of the authorization server.
   */
  renewPart: 0.2,
  maxRenewMs: 60_000,
  /**
   * The time before the end of a token's lifetime from which the token is no longer sent:
   * `unusedPart` of the lifetime, but at most `maxUnusedMs` (in ms). The token must still be valid
   * when the endpoint checks it: a request takes up to 5 s, and clocks differ. Doubling both
   * constants has no effect while tokens are renewed in time.
   */
  unusedPart: 0.1,
  maxUnusedMs: 10_000,
  /**
   * Wait after a failed token request, in ms. Each further wait is twice as long, up to
   * `maxBackoffMs`. Doubling both constants gives a broken authorization server less load, but
   * deliveries continue later after an outage.
   */
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  /**
   * Maximum wait that an authorization server can request with Retry-After, in ms. Doubling it lets
   * a server with a wrong header get no token requests for ten minutes.
   */
  maxRetryAfterMs: 300_000,
  /**
   * Minimum time, in ms, between two replacements of a token that the same endpoint refused with
   * 401. `replaceRefusedEveryMs` applies while a 401 does not end a delivery (see `acceptedForMs`),
   * `replaceEveryMs` afterwards. Some authorization servers invalidate the old token when they
   * issue a new one. Two processes can then invalidate each other's tokens again and again, but at
   * most every `replaceRefusedEveryMs`. After a doubling of either interval, an endpoint that would
   * accept a new token gets it later.
   */
  replaceRefusedEveryMs: 5_000,
  replaceEveryMs: 60_000,
  /**
   * Two times, in ms, during which a 401 does not end a delivery. `acceptedForMs` begins when the
   * endpoint last accepted a token. `deferRefusedForMs` begins at the first 401 after that. If the
   * endpoint has accepted no token from this process, it begins at the first 401 in this process.
   * Doubling them dead-letters deliveries later if the credentials are really wrong.
   */
  acceptedForMs: 600_000,
  deferRefusedForMs: 120_000,
  /**
   * Timeout of a token request, in ms. A delivery waits for a token for a shorter time, but the
   * token request then continues. So later deliveries can use the token of a slow authorization
   * server. After a doubling, a token request without a response delays the next token request
   * longer.
   */
  requestTimeout: durationMs(10_000),
} as const
