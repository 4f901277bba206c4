import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { EpochMs } from '../../core/time.ts'

/**
 * Observes how late an attempt starts: a retry after its scheduled time, and a first attempt after
 * the append of the event.
 */
export function observeDelay(
  metrics: Metrics,
  { carried }: { readonly carried: DeliveryState },
  now: EpochMs,
  traceId?: string,
): void {
  if (carried.attempt > 0) metrics.retryLateness.observe({}, Math.max(0, now - carried.notBefore) / 1000)
  // The first attempt of a replayed event (`round` is not 0) is not observed: its delay would
  // include the days until an operator replayed the event.
  else if (carried.round === 0)
    metrics.firstAttemptDelay.observe({}, Math.max(0, now - carried.origin.timestamp) / 1000, traceId)
}
