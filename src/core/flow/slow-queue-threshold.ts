import { flowLimits } from './flow-control-constants.ts'

const { slowAfterMs, slowAfterMsWhenSaturated } = flowLimits.spillover

/**
 * Returns a time in monotonic milliseconds. A destination is slow if its next delivery, or the
 * first waiting delivery of any of its users, was admitted before this time.
 * The time is earlier if the destination is not the cause of the wait: if the process recently
 * lacked CPU (`cpuSaturatedUntil`, in monotonic milliseconds), or if other destinations hold the
 * permits that the destination needs (`lacksPermits`).
 */
export function slowIfAdmittedBefore(now: number, cpuSaturatedUntil: number, lacksPermits: boolean): number {
  const isSaturated = lacksPermits || now - cpuSaturatedUntil < slowAfterMs
  return now - (isSaturated ? slowAfterMsWhenSaturated : slowAfterMs)
}
