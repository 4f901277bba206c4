import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { EpochMs } from '../../core/time.ts'

/**
 * Observes the delay of a retry since its scheduled time, or of a first attempt since the append of
 * the event.
 */
export function observeDelay(
  metrics: Metrics,
  { carried }: { readonly carried: DeliveryState },
  now: EpochMs,
  traceId?: string,
): void {
  if (carried.attempt > 0) metrics.retryLateness.observe({}, Math.max(0, now - carried.notBefore) / 1000)
  // Exclude replayed events (`round` is not 0): the delay would include the days until the replay.
  // Exclude a delivery whose earlier attempt got no access token or no permit: `attempt` does not
  // count that attempt, but `outcomes` lists it.
  else if (carried.round === 0 && carried.outcomes === '')
    metrics.firstAttemptDelay.observe({}, Math.max(0, now - carried.origin.timestamp) / 1000, traceId)
}
