import { flowLimits } from './limits.ts'

const { slowAfterMs, slowAfterMsWhenSaturated } = flowLimits.spillover

/**
 * Returns a time in monotonic milliseconds: a destination counts as slow if the oldest delivery in
 * its queue was admitted at or before this time. The time is usually 1 s ago. It is 10 s ago if the
 * queue waits for the process and not for its endpoint: the process lacked CPU in the last second
 * (`cpuSaturatedUntil`), or other destinations hold the permits of the process, although the
 * attempts of this destination are quick (`isHeldUp`).
 */
export function slowQueueSince(now: number, cpuSaturatedUntil: number, isHeldUp: boolean): number {
  const isSaturated = isHeldUp || now - cpuSaturatedUntil < slowAfterMs
  return now - (isSaturated ? slowAfterMsWhenSaturated : slowAfterMs)
}
