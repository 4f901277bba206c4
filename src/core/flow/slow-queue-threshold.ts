import { flowLimits } from './limits.ts'

const { slowAfterMs, slowAfterMsWhenSaturated } = flowLimits.spillover

/**
 * Returns a time in monotonic milliseconds: a destination counts as slow if the oldest delivery in
 * its queue was admitted at or before this time. The time is usually 1 s ago. It is 10 s ago in two
 * cases, in which the queue waits for the process and not for its endpoint:
 * - The process lacks CPU, or lacked CPU in the last second (`cpuSaturatedUntil`).
 * - The queue is held up (`isHeldUp`): other destinations hold the permits of the process, although
 *   the attempts of this destination are quick.
 *
 * A lack of CPU does not hide a slow destination that blocks the deliveries of other destinations.
 * While these deliveries wait, the process has less work. So the lack of CPU ends, and the
 * returned time is 1 s ago again.
 */
export function slowQueueSince(now: number, cpuSaturatedUntil: number, isHeldUp: boolean): number {
  const isSaturated = isHeldUp || now - cpuSaturatedUntil < slowAfterMs
  return now - (isSaturated ? slowAfterMsWhenSaturated : slowAfterMs)
}
