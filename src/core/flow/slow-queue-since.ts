import { flowLimits } from './limits.ts'

const { slowAfterMs, slowAfterMsWhenSaturated } = flowLimits.spillover

/**
 * Returns a time in monotonic milliseconds: a destination counts as slow if the oldest delivery in
 * its queue was admitted at or before this time. The time is usually 1 s ago. While the process
 * lacks CPU, and for 1 s afterwards, the time is 10 s ago, because every queue then waits for the
 * process and not for its endpoint.
 *
 * A lack of CPU does not hide a slow destination that blocks the deliveries of other destinations.
 * While these deliveries wait, the process has less work. So the lack of CPU ends, and the
 * returned time is 1 s ago again.
 */
export function slowQueueSince(now: number, cpuSaturatedUntil: number): number {
  return now - (now - cpuSaturatedUntil >= slowAfterMs ? slowAfterMs : slowAfterMsWhenSaturated)
}
