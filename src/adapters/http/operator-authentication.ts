import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FailureThrottle } from '../../core/operator/authentication-failure-throttle.ts'
import type { FindOperatorKey } from '../../core/operator/operator-keys.ts'
import { isEqual, type Operator, type OperatorSessions } from '../../core/operator/signed-session-tokens.ts'
import type { Clock } from '../../core/ports.ts'
import { clientAddressOf } from './client-address.ts'
import { isOfOtherOrigin } from './is-of-other-origin.ts'
import { type HttpResponse, problem } from './response-codes-and-bodies.ts'
import { deleteCookie, sessionTokenIn } from './session-cookie.ts'

interface Deps {
  /** Returns the function that checks keys. Called for each request, because keys can change. */
  readonly findKey: () => FindOperatorKey
  /**
   * Returns the current sessions. Called for each request, because a reload of the configuration
   * replaces them. `undefined` if the listener has no sessions.
   */
  readonly sessions?: (() => OperatorSessions) | undefined
  /** Makes a client address wait after wrong keys. If `undefined`, addresses never wait. */
  readonly throttle?: FailureThrottle | undefined
  /** The header in which a proxy sends the client address. */
  readonly clientAddressHeader?: string | undefined
  readonly clock: Pick<Clock, 'monotonic' | 'now'>
}

/** `answer` is the error response. */
type Authentication =
  | { readonly kind: 'permitted'; readonly operator: Operator }
  /** The key or the session is valid, but does not permit the request. */
  | { readonly kind: 'forbidden'; readonly operator: Operator; readonly answer: HttpResponse }
  /** For example, the request has no valid key or session, or the client address must wait. */
  | { readonly kind: 'unauthenticated'; readonly answer: HttpResponse }

/**
 * Authenticates a request by operator key or session cookie. The role `read` may send only GET and
 * HEAD requests, except with `isForEveryRole`.
 */
export type AuthenticateOperator = (request: IncomingMessage, isForEveryRole?: boolean) => Authentication

export function createOperatorAuthentication(deps: Deps): AuthenticateOperator {
  const { findKey, sessions, throttle, clientAddressHeader, clock } = deps

  function byKey({ headers }: IncomingMessage): Authentication {
    const given = bearerPattern.exec(headers.authorization ?? '')?.[1]
    const operator = given === undefined ? undefined : findKey()(given)
    return operator === undefined ? unauthenticated(noKey) : { kind: 'permitted', operator }
  }

  function bySession({ headers, method }: IncomingMessage, token: string, of: OperatorSessions): Authentication {
    if (isOfOtherOrigin(headers)) return unauthenticated(otherOrigin)
    const found = of.find(token, clock.now())
    if (found.kind !== 'found') return unauthenticated(found.kind === 'expired' ? expiredSession : noSession)
    const { operator } = found
    const isRepeated = isEqual(operator.session.csrfToken, String(headers['x-csrf-token']))
    const isPermitted = isRepeated || isReading(method)
    return isPermitted ? { kind: 'permitted', operator } : { kind: 'forbidden', operator, answer: noCsrfToken }
  }

  return (request, isForEveryRole = false) => {
    const { headers, method } = request
    const address = clientAddressOf(request, clientAddressHeader)
    const now = clock.monotonic()
    const token = headers.authorization === undefined && sessions ? sessionTokenIn(headers) : undefined
    const retryAfter = throttle?.secondsToWait(address, now, token) ?? 0
    if (retryAfter > 0) return unauthenticated(tooManyFailures(retryAfter))
    const found = token === undefined || !sessions ? byKey(request) : bySession(request, token, sessions())
    if (found.kind !== 'permitted') {
      const isGuess =
        found.answer === noSession || (found.answer === noKey && bearerPattern.test(headers.authorization ?? ''))
      if (isGuess) throttle?.failed(address, now, token)
      const hasEnded = found.answer === noSession || found.answer === expiredSession
      return hasEnded ? unauthenticated(withoutCookie(found.answer, headers)) : found
    }
    throttle?.succeeded(address, token)
    const { operator } = found
    const isPermitted = operator.role === 'operate' || isReading(method) || isForEveryRole
    return isPermitted ? found : { kind: 'forbidden', operator, answer: readOnly }
  }
}

const unauthenticated = (answer: HttpResponse): Authentication => ({ kind: 'unauthenticated', answer })

const isReading = (method: string | undefined): boolean => method === 'GET' || method === 'HEAD'

/** The response to an address that has sent too many wrong keys. `retryAfter` is in seconds. */
export const tooManyFailures = (retryAfter: number): HttpResponse =>
  problem('rate_limited', tooManyWrong, { retryAfter })

const bearerPattern = /^bearer[ \t]+(\S+)[ \t]*$/i
const tooManyWrong =
  'Too many requests from this address, or from all addresses together, had a wrong operator key: wait for the time in Retry-After, then send a valid key.'
const noKey = problem(
  'invalid_operator_key',
  "The request has no valid operator key: send 'Authorization: Bearer <key>'.",
)
const readOnly = problem(
  'forbidden',
  'This key has the role "read", which allows GET and HEAD only: send a key with the role "operate".',
)
/** Makes the browser delete the session cookie. */
const withoutCookie = (answer: HttpResponse, headers: IncomingHttpHeaders): HttpResponse => ({
  ...answer,
  headers: { ...answer.headers, ...deleteCookie(headers) },
})
const noSession = problem('invalid_session', 'The session is not valid: sign in again.')
const expiredSession = problem('invalid_session', 'The session has ended: sign in again.')
const noCsrfToken = problem(
  'invalid_csrf_token',
  'The request has no valid CSRF token: send "csrfToken" from the response to GET /v1/session in the header X-CSRF-Token.',
)
/** The response when a page of another origin sends a request with the session cookie. */
export const otherOrigin = problem(
  'cross_origin',
  'The page that sent the request has another address (scheme, host or port) than this API: use the console at the address of this API, or send an operator key. If the addresses are the same, make the proxy in front of this API keep the header Host.',
)
/** The response to a request without a session and without a key. */
export const notSignedIn = problem('invalid_session', 'The request has no session: sign in with POST /v1/session.')
