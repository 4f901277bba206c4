import { flowLimits } from './limits.ts'

const { slowAfterMs, slowAfterMsWhenSaturated } = flowLimits.spillover

/**
 * Returns a time in monotonic milliseconds. A destination counts as slow when its oldest queued
 * delivery was admitted at or before this time. The time is 1 s ago. It is 10 s ago while the
 * process lacks CPU, because then every queue waits for the process and not for its endpoint.
 *
 * A slow destination that blocks others is found even then: while the others wait, the process has
 * less to do, and no longer lacks CPU.
 */
export function slowQueueSince(now: number, cpuSaturatedUntil: number): number {
  return now - (now - cpuSaturatedUntil >= slowAfterMs ? slowAfterMs : slowAfterMsWhenSaturated)
}
