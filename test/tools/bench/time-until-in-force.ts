import { changeIn } from './probe-and-other-destinations.ts'
import type { SuccessLog } from './receiver/event-tally.ts'

/**
 * A change that the operator API has acknowledged. The bench changes one destination, the probe,
 * under load.
 */
export interface Change {
  /**
   * Number of the change. Each request that is made with the changed configuration has the number
   * in its path.
   */
  readonly number: number
  /** When the response of the operator API arrived, in milliseconds since 1970. */
  readonly answeredAt: number
}

/**
 * Computes, for each change, the milliseconds from the response of the operator API until the
 * change is in force in every process. A change is in force when each partition has delivered a
 * request with this or a later change. Only a request for an event shows the change. So the result
 * can be too high, by at most the time between two events of a partition plus the response time of
 * the endpoint. The result is infinite if a partition never delivers a request with this or a later
 * change.
 */
export function msUntilInForce(
  changes: readonly Change[],
  { numbers, times, paths }: SuccessLog,
  partitionOf: ReadonlyMap<number, number>,
): readonly number[] {
  const byPartition = new Map<number, { readonly change: number; readonly at: number }[]>()
  numbers.forEach((number, index) => {
    const partition = partitionOf.get(number)
    const change = changeIn(paths[index] ?? '')
    if (partition === undefined || change === undefined) return
    const seen = byPartition.get(partition) ?? []
    seen.push({ change, at: times[index] as number })
    byPartition.set(partition, seen)
  })
  return changes.map(({ number, answeredAt }) =>
    Math.max(
      0,
      ...[...byPartition.values()].map(seen => {
        const first = seen.find(({ change }) => change >= number)
        return (first?.at ?? Number.POSITIVE_INFINITY) - answeredAt
      }),
    ),
  )
}
