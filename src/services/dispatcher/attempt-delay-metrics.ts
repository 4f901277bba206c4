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
  // Not for a replayed event (`round` is not 0): its delay would include the days until the replay.
  // An earlier attempt without an access token or a permit is not counted in `attempt`, but it has
  // left an outcome.
  else if (carried.round === 0 && carried.outcomes === '')
    metrics.firstAttemptDelay.observe({}, Math.max(0, now - carried.origin.timestamp) / 1000, traceId)
}
