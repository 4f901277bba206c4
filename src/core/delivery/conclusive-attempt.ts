import { isOfEndpoint } from './classify-outcome.ts'
import { type Attempt, isOnlySlowedDown, isWithoutPermit } from './decide.ts'

/**
 * Whether an attempt shows the state of the destination's endpoints, so that the circuit breaker
 * counts it. These attempts do not count:
 * - an attempt without requests
 * - a failed attempt in which a permit was missing, or the proxy or the authorization server failed,
 *   because without that it might have succeeded
 * - a failed attempt whose only retryable outcomes are 429, because the endpoint works
 */
export function isConclusive(attempt: Pick<Attempt, 'calls' | 'isHeldUpByOthers'>): boolean {
  const { calls } = attempt
  if (calls.length === 0 || isWithoutPermit(attempt) || isOnlySlowedDown(attempt)) return false
  const isDelivered = calls.some(({ outcome }) => outcome === 'delivered')
  return isDelivered || calls.every(({ outcome }) => isOfEndpoint(outcome))
}
