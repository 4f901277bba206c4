import { isOnlySlowedDown, isWithoutPermit, type PermitFacts } from './decide.ts'
import { isOfEndpoint } from './outcomes-reasons-and-classification.ts'

/**
 * Whether an attempt is conclusive: it shows that the endpoints of the destination work, or that
 * they fail. The circuit breaker counts only conclusive attempts. These attempts are not
 * conclusive:
 * - an attempt that sent no request
 * - a failed attempt for which a permit (a slot for a concurrent request) was missing, or during
 *   which the proxy or the authorization server failed: without this problem, the attempt might
 *   have succeeded
 * - a failed attempt whose only retryable outcomes are 429, because the endpoint works
 */
export function isConclusive(attempt: PermitFacts): boolean {
  const { calls } = attempt
  if (calls.length === 0 || isWithoutPermit(attempt) || isOnlySlowedDown(attempt)) return false
  const isDelivered = calls.some(({ outcome }) => outcome === 'delivered')
  return isDelivered || calls.every(({ outcome }) => isOfEndpoint(outcome))
}
