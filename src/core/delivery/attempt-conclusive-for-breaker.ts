import { isOnlySlowedDown, isWithoutPermit, type PermitFacts } from './decide.ts'
import { isOfEndpoint } from './outcomes-reasons-and-classification.ts'

/**
 * Whether an attempt shows that the endpoints of the destination work, or that they fail. The
 * circuit breaker counts only these attempts. Not conclusive are:
 * - an attempt that sent no request
 * - a failed attempt that might have succeeded, because a permit (a slot for a concurrent request)
 *   was missing, or the proxy or the authorization server failed
 * - a failed attempt whose only retryable outcomes are 429, because the endpoint works
 */
export function isConclusive(attempt: PermitFacts): boolean {
  const { calls } = attempt
  if (calls.length === 0 || isWithoutPermit(attempt) || isOnlySlowedDown(attempt)) return false
  const isDelivered = calls.some(({ outcome }) => outcome === 'delivered')
  return isDelivered || calls.every(({ outcome }) => isOfEndpoint(outcome))
}
