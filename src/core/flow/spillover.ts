import { flowLimits } from './limits.ts'

const { slowAfterMs, slowAfterMsWhenSaturated } = flowLimits.spillover

/**
 * Returns since when the oldest delivery of a queue must have waited for its destination to count as
 * slow, in monotonic milliseconds. While the process lacks CPU, every queue waits for the process and
 * none for its endpoint, so the threshold is higher. A queue that blocks others still shows soon:
 * while they wait for it, the process has less to do.
 */
export function slowSince(now: number, cpuSaturatedUntil: number): number {
  return now - (now - cpuSaturatedUntil >= slowAfterMs ? slowAfterMs : slowAfterMsWhenSaturated)
}
