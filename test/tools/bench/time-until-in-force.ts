import { changeIn } from './changed-and-unchanged-destinations.ts'
import type { SuccessLog } from './receiver/event-tally.ts'

/**
 * A change that the operator API has acknowledged. The bench changes one destination, the probe,
 * under load.
 */
export interface Change {
  /**
   * Number of the change. A request with the configuration of this change has the number in its
   * path.
   */
  readonly number: number
  /** When the response of the operator API arrived, in milliseconds since 1970. */
  readonly answeredAt: number
}

/**
 * Computes, for each change, the milliseconds from the response of the operator API until the
 * change is in force in every process. It is in force when each partition has a successful request
 * with this change or a later one. If a partition never has this request, the result is infinite. A
 * change becomes visible only with the next event of a partition. So the result can be too high, by
 * at most the time between two events of a partition plus the response time of the endpoint.
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
