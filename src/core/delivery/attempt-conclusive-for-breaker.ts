import { isOnlySlowedDown, isWithoutPermit, type PermitFacts } from './decide.ts'
import { isOfEndpoint } from './outcomes-reasons-and-classification.ts'

/**
 * Whether an attempt shows that the endpoints work, or that they fail. The circuit breaker counts
 * no other attempts.
 */
export function isConclusive(attempt: PermitFacts): boolean {
  const { calls } = attempt
  if (calls.length === 0 || isWithoutPermit(attempt) || isOnlySlowedDown(attempt)) return false
  const isDelivered = calls.some(({ outcome }) => outcome === 'delivered')
  return isDelivered || calls.every(({ outcome }) => isOfEndpoint(outcome))
}
