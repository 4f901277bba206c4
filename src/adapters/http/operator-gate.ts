import type { IncomingMessage } from 'node:http'
import type { FailureThrottle } from '../../core/operator/failure-throttle.ts'
import type { FindOperatorKey, NamedKey } from '../../core/operator/operator-keys.ts'
import type { Clock } from '../../core/ports.ts'
import { type Answer, problem } from './answers.ts'

interface Deps {
  /** Asked for at each request: keys change while it runs. */
  readonly findKey: () => FindOperatorKey
  /** Undefined: wrong keys are not throttled. */
  readonly throttle?: FailureThrottle | undefined
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Finds who sends a request, or why it is refused, before anything else of the request is read. */
export type OperatorGate = (request: IncomingMessage) => NamedKey | Answer

export function createOperatorGate({ findKey, throttle, clock }: Deps): OperatorGate {
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
const tooManyWrong = 'Too many requests came without a right operator key: wait, then send a right one.'
const noKey = problem('invalid_operator_key', "Send the operator key: 'Authorization: Bearer <key>'.")
const readOnly = problem('forbidden', 'This key has the role read: send a key with the role operate.')
