import { flowLimits } from './limits.ts'

const { slowAfterMs, slowAfterMsWhenSaturated } = flowLimits.spillover

/**
 * Returns a time in monotonic milliseconds. A destination counts as slow when its oldest queued
 * delivery was admitted at or before this time. While the process lacks CPU, every queue waits for
 * the process and not for its endpoint, so the time is earlier. A slow destination that blocks
 * others is still found: the process then has less work and no longer lacks CPU.
 */
export function slowQueueSince(now: number, cpuSaturatedUntil: number): number {
  return now - (now - cpuSaturatedUntil >= slowAfterMs ? slowAfterMs : slowAfterMsWhenSaturated)
}
