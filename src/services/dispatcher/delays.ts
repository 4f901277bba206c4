import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { EpochMs } from '../../core/units.ts'

/** How late an attempt begins. */
export function observeDelay(
  metrics: Metrics,
  { carried }: { readonly carried: DeliveryState },
  now: EpochMs,
  traceId?: string,
): void {
  if (carried.attempt > 0) metrics.retryLateness.observe({}, Math.max(0, now - carried.notBefore) / 1000)
  // What was put back waited for an operator: no delay of ours. What was deferred did wait for us, since its own append.
  else if (carried.round === 0)
    metrics.firstAttemptDelay.observe({}, Math.max(0, now - carried.origin.timestamp) / 1000, traceId)
}
