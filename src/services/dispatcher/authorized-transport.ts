import type { Token } from '../../core/oauth2/token-renewal-rules.ts'
import type { Clock } from '../../core/ports.ts'
import type { Destination, OAuth2Settings } from '../../core/settings/settings.ts'
import { isSameValue } from '../../core/settings/settings-change.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/webhook-ports.ts'
import { type TokenOutcome, TokenSource, type TokenSourceDeps } from './token-source.ts'

interface Deps {
  readonly transport: Pick<WebhookTransport, 'post'>
  readonly tokens: Pick<TokenSource, 'current' | 'wait' | 'accepted' | 'refused'>
  readonly clock: Clock
  /** Time limit of requests that have none of their own. */
  readonly timeout: DurationMs
}

/** The transport of one destination with `auth.oauth2`. */
export interface AuthorizedTransport extends Pick<WebhookTransport, 'post'> {
  readonly settings: OAuth2Settings
}

/**
 * Returns the transport of a destination; `undefined` without `auth.oauth2`. For unchanged
 * settings, returns `before`, which may have a token.
 */
export type Authorize = (
  destination: Pick<Destination, 'id' | 'auth'>,
  before: AuthorizedTransport | undefined,
) => AuthorizedTransport | undefined

export function createAuthorize(deps: Omit<Deps, 'tokens'> & TokenSourceDeps): Authorize {
  return ({ id, auth }, before) => {
    const settings = auth?.oauth2
    if (settings === undefined) return undefined
    if (before !== undefined && isSameValue(before.settings, settings)) return before
    return { settings, ...createAuthorizedTransport({ ...deps, tokens: new TokenSource(id, settings, deps) }) }
  }
}

/**
 * Adds an access token to each request. The time limit includes the wait for the token and the
 * second request after a 401.
 */
const createAuthorizedTransport = (deps: Deps): Pick<WebhookTransport, 'post'> => ({
  post: (call, onEnd) => new AuthorizedCall(deps, call, onEnd).start(),
})

/** One request with an access token. */
class AuthorizedCall {
  readonly #deps: Deps
  readonly #call: WebhookCall
  readonly #onEnd: (result: CallResult) => void
  readonly #timeout: DurationMs
  readonly #startedAt: number
  /** Milliseconds for which the request has waited for tokens. */
  #waitedMs = 0
  #isRepeated = false

  constructor(deps: Deps, call: WebhookCall, onEnd: (result: CallResult) => void) {
    this.#deps = deps
    this.#call = call
    this.#onEnd = onEnd
    this.#timeout = call.timeoutMs ?? deps.timeout
    this.#startedAt = deps.clock.monotonic()
  }

  start(): void {
    const token = this.#deps.tokens.current()
    if (token === undefined) this.#wait()
    else this.#send(token)
  }

  #wait(): void {
    const { tokens, clock } = this.#deps
    const since = clock.monotonic()
    tokens.wait(this.#remaining(), outcome => {
      this.#waitedMs += clock.monotonic() - since
      this.#received(outcome)
    })
  }

  #received(outcome: TokenOutcome): void {
    if (outcome.kind === 'token') return this.#send(outcome.token)
    const { outcome: code, detail } = outcome.failure
    this.#onEnd(withoutToken(code, detail))
  }

  #send(token: Token): void {
    const { url, headers, body } = this.#call
    const call: WebhookCall = {
      ...this.#call,
      url,
      headers: { ...headers, Authorization: `Bearer ${token.value.reveal()}` },
      body,
      ...(this.#waitedMs > 0 || this.#isRepeated ? { timeoutMs: this.#remaining() } : {}),
    }
    this.#deps.transport.post(call, result => this.#ended(token, result))
  }

  #ended(token: Token, result: CallResult): void {
    const { tokens } = this.#deps
    const { url } = this.#call
    if (result.kind === 'answered' && result.status === 401) {
      const next = tokens.refused({ token, url, isRepeated: this.#isRepeated })
      if (next === 'repeat') return this.#repeat()
      if (next === 'defer') return this.#onEnd(withoutToken('http_4xx', refusedToken))
    } else if (result.kind === 'answered' && result.status >= 200 && result.status <= 299) {
      // Only a 2xx status shows that the token is accepted. For example, a rate limiter can respond
      // with 429 first.
      tokens.accepted(url)
    } else if (result.kind === 'failed' && result.phase === 'deadline' && this.#waitedMs > this.#timeout / 2) {
      // The wait for tokens took most of the time, so this is an `auth` failure, which the circuit
      // breaker does not count.
      return this.#onEnd(
        withoutToken('timeout', 'the token endpoint responded late: too little time was left for the webhook request'),
      )
    }
    const hasBody = result.kind === 'answered' && result.body !== undefined
    this.#onEnd(hasBody ? { ...result, accessToken: token.value } : result)
  }

  #repeat(): void {
    this.#isRepeated = true
    this.start()
  }

  /**
   * The time that is left for the request, rounded up to a multiple of `stepMs`. The transport has
   * a timer for each distinct time limit, so rounding saves timers.
   */
  #remaining(): DurationMs {
    const leftMs = this.#startedAt + this.#timeout - this.#deps.clock.monotonic()
    return durationMs(Math.min(this.#timeout, Math.max(1, Math.ceil(leftMs / stepMs)) * stepMs))
  }
}

const stepMs = 100

const refusedToken = 'the endpoint responded with 401; it may accept a new access token, so Hookline tries again later'

const withoutToken = (code: string, detail: string): CallResult => ({ kind: 'failed', phase: 'auth', code, detail })
