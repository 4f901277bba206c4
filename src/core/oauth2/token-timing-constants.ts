import { durationMs } from '../time.ts'

/*
 * The constants that decide when an access token is requested. They are not configurable. Each
 * comment says what the constant is and, if necessary, why it has this value. The sentence that
 * begins with `If doubled:` says what happens with twice the value. A comment before several
 * constants applies to all of them.
 */
export const tokenLimits = {
  /**
   * Lifetime of an access token whose response has no valid `expires_in`. If doubled: more tokens
   * expire before their renewal, and endpoints refuse them with 401.
   */
  defaultLifetimeMs: 300_000,
  /**
   * Minimum lifetime that Hookline assumes for a token, whatever `expires_in` says. The minimum
   * limits the number of token requests. If doubled: more tokens expire before their renewal, and
   * endpoints refuse them with 401.
   */
  minLifetimeMs: 10_000,
  /**
   * Maximum lifetime that Hookline assumes for a token, whatever `expires_in` says. If doubled: a
   * token can be used for two days.
   */
  maxLifetimeMs: 86_400_000,
  /**
   * A new token is requested when this part of the lifetime remains. The old token is used until
   * the new one arrives. If doubled: deliveries survive a longer outage of the authorization
   * server, with more token requests.
   */
  renewPart: 0.2,
  /**
   * Maximum time between the renewal of a token and its expiry. This time limits `renewPart` of a
   * long lifetime. If doubled: tokens that live longer than five minutes are renewed earlier.
   */
  maxRenewMs: 60_000,
  /**
   * In this last part of its lifetime, a token is no longer sent. The token must still be valid
   * when the endpoint checks it. If doubled: nothing changes while tokens are renewed in time.
   */
  unusedPart: 0.1,
  /**
   * Maximum length of the last part (`unusedPart`) of a lifetime, in which a token is no longer
   * sent. A request lasts up to 5 s, and clocks may differ. If doubled: nothing changes while
   * tokens are renewed in time.
   */
  maxUnusedMs: 10_000,
  /**
   * Wait after a failed token request. Each further wait is twice as long, up to `maxBackoffMs`. If
   * doubled: a broken authorization server gets less load, but deliveries continue later.
   */
  backoffMs: 1_000,
  maxBackoffMs: 60_000,
  /**
   * Maximum wait that an authorization server can request with Retry-After. If doubled: a server
   * with a wrong header gets no token requests for ten minutes.
   */
  maxRetryAfterMs: 300_000,
  /**
   * Minimum time between two replacements of a token that one endpoint refused with 401. The time
   * limits how often two processes invalidate each other's tokens. If doubled: an endpoint that
   * would accept a new token gets the token later.
   */
  minReplaceIntervalMs: 5_000,
  /**
   * Replaces `minReplaceIntervalMs` after the times `acceptedForMs` and `deferRefusedForMs`, when a
   * 401 can dead-letter a delivery. If doubled: an endpoint that would accept a new token gets the
   * token later.
   */
  minReplaceIntervalIfFinalMs: 60_000,
  /**
   * For this time after an endpoint accepted a token, Hookline defers a delivery after a 401, and
   * does not dead-letter it: another process may have invalidated the token. If doubled: deliveries
   * with wrong credentials are dead-lettered later.
   */
  acceptedForMs: 600_000,
  /**
   * For this time after an endpoint's first 401, Hookline defers a delivery after a 401, and does
   * not dead-letter it: a new token may help. After an accepted token, the next 401 counts as the
   * first again. If doubled: deliveries with wrong credentials are dead-lettered later.
   */
  deferRefusedForMs: 120_000,
  /**
   * Timeout of a token request. A delivery waits for a shorter time, but later deliveries can use
   * the token. If doubled: a token request without a response delays the next token request longer.
   */
  requestTimeout: durationMs(10_000),
} as const
