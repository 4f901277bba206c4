import { flowLimits } from './limits.ts'

const { slowAfterMs, slowAfterMsWhenSaturated } = flowLimits.spillover

/**
 * Returns a time in monotonic milliseconds: a destination counts as slow if the oldest delivery in
 * its queue was admitted at or before this time. The time is usually 1 s ago. While the process
 * lacks CPU, it is 10 s ago, because every queue then waits for the process and not for its
 * endpoint.
 *
 * While the process lacks CPU, a slow destination that blocks others is still found: while the
 * others wait, the process has less to do, and no longer lacks CPU.
 */
export function slowQueueSince(now: number, cpuSaturatedUntil: number): number {
  return now - (now - cpuSaturatedUntil >= slowAfterMs ? slowAfterMs : slowAfterMsWhenSaturated)
}
