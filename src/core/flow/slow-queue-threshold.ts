import { flowLimits } from './limits.ts'

const { slowAfterMs, slowAfterMsWhenSaturated } = flowLimits.spillover

/**
 * A destination is slow if its next delivery, or the first waiting one of a user, was admitted
 * before the returned time (monotonic milliseconds). `isHeldUp`: other destinations hold the
 * permits.
 */
export function slowQueueSince(now: number, cpuSaturatedUntil: number, isHeldUp: boolean): number {
  const isSaturated = isHeldUp || now - cpuSaturatedUntil < slowAfterMs
  return now - (isSaturated ? slowAfterMsWhenSaturated : slowAfterMs)
}
