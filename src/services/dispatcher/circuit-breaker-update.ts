import { isConclusive } from '../../core/delivery/attempt-conclusive-for-breaker.ts'
import type { Attempt } from '../../core/delivery/decide.ts'
import { isRetryable } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import type { Logger } from '../../core/ports.ts'
import type { DestinationObserver } from '../notices/facts-seen-by-this-process.ts'
import type { StartedAttempt } from './make-attempt.ts'

interface Deps {
  readonly logger: Logger
  readonly observer: Pick<DestinationObserver, 'breakerOpened' | 'breakerClosed'>
}

/** Reports the end of an attempt to the circuit breaker, and logs when it opens or closes. */
export function updateCircuitBreaker(
  { logger, observer }: Deps,
  { delivery, isProbe: wasProbe }: StartedAttempt,
  attempt: Attempt,
  endedAt: number,
): void {
  const { calls } = attempt
  const { breaker, destination } = delivery.target
  const wasOpen = breaker.isOpen
  const isDelivered = calls.some(({ outcome }) => outcome === 'delivered')
  const failed = !isDelivered && calls.some(({ outcome }) => isRetryable(outcome))
  breaker.ended({ failed, wasProbe, isConclusive: isConclusive(attempt) }, endedAt)
  if (breaker.isOpen === wasOpen) return
  const outcomes = [...new Set(calls.map(({ outcome }) => outcome))]
  if (breaker.isOpen) {
    observer.breakerOpened(destination, outcomes)
    logger.warn(
      { destination },
      'circuit breaker opened, because at least 70 % of the attempts at this destination in one minute failed; this process now makes only one attempt every 30 s, and the other deliveries wait in retry topics; check the endpoint',
    )
  } else {
    observer.breakerClosed(destination, outcomes)
    logger.info(
      { destination },
      'circuit breaker closed, because an attempt succeeded, or failed with an outcome that Hookline does not retry (for example a 404 response)',
    )
  }
}
