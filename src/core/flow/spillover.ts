import { flowLimits } from './limits.ts'

const { slowAfterMs, slowAfterMsWhenSaturated } = flowLimits.spillover

/**
 * Returns the time since which a queue's oldest delivery must wait for its destination to count as
 * slow, in monotonic milliseconds. While the process lacks CPU, every queue waits for the process
 * and not for its endpoint, so the threshold is higher. A slow destination that blocks others is
 * still found: the process has less work then, and stops lacking CPU.
 */
export function slowSince(now: number, cpuSaturatedUntil: number): number {
  return now - (now - cpuSaturatedUntil >= slowAfterMs ? slowAfterMs : slowAfterMsWhenSaturated)
}
