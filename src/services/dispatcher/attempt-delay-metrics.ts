import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { EpochMs } from '../../core/time.ts'

/** Observes how late an attempt starts. */
export function observeDelay(
  metrics: Metrics,
  { carried }: { readonly carried: DeliveryState },
  now: EpochMs,
  traceId?: string,
): void {
  if (carried.attempt > 0) metrics.retryLateness.observe({}, Math.max(0, now - carried.notBefore) / 1000)
  // A replayed event (`round` is not 0) is not observed, because it waited for an operator. For a
  // deferred event, the delay begins when the event was appended.
  else if (carried.round === 0)
    metrics.firstAttemptDelay.observe({}, Math.max(0, now - carried.origin.timestamp) / 1000, traceId)
}
