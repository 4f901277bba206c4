import type { IncomingMessage } from 'node:http'
import type { FailureThrottle } from '../../core/operator/failure-throttle.ts'
import type { FindOperatorKey, NamedKey } from '../../core/operator/operator-keys.ts'
import type { Clock } from '../../core/ports.ts'
import { type HttpResponse, problem } from './responses.ts'

interface Deps {
  /** Called for each request, because keys change at runtime. */
  readonly findKey: () => FindOperatorKey
  /** `undefined` when wrong keys are not throttled. */
  readonly throttle?: FailureThrottle | undefined
  readonly clock: Pick<Clock, 'monotonic'>
}

/**
 * Authenticates a request before its body is read. Returns the operator key, or the error response.
 */
export type AuthenticateOperator = (request: IncomingMessage) => NamedKey | HttpResponse

export function createOperatorAuthentication({ findKey, throttle, clock }: Deps): AuthenticateOperator {
  return ({ headers, method, socket }) => {
    const { remoteAddress = '' } = socket
    const now = clock.monotonic()
    const retryAfter = throttle?.secondsToWait(remoteAddress, now) ?? 0
    if (retryAfter > 0) return problem('rate_limited', tooManyWrong, { retryAfter })
    const given = bearerPattern.exec(headers.authorization ?? '')?.[1]
    const key = given === undefined ? undefined : findKey()(given)
    if (key === undefined) {
      throttle?.failed(remoteAddress, now)
      return noKey
    }
    throttle?.succeeded(remoteAddress, now)
    return key.role === 'operate' || method === 'GET' || method === 'HEAD' ? key : readOnly
  }
}

const bearerPattern = /^bearer[ \t]+(\S+)[ \t]*$/i
const tooManyWrong = 'Too many requests without a valid operator key: send a valid key after the time in Retry-After.'
const noKey = problem(
  'invalid_operator_key',
  "The request has no valid operator key: send 'Authorization: Bearer <key>'.",
)
const readOnly = problem(
  'forbidden',
  'This key has the role read, which allows GET and HEAD only: send a key with the role operate.',
)
