import { changeIn } from './changed-and-unchanged-destinations.ts'
import type { SuccessLog } from './receiver/event-tally.ts'

/** A change of the probe, the destination that is changed under load. */
export interface Change {
  /** A request after this change has the number in its path. */
  readonly number: number
  /** When the response of the operator API arrived, in ms since 1970. */
  readonly answeredAt: number
}

/**
 * For each change: the ms from the operator API's response until every partition has a successful
 * request with this or a later change; infinity if a partition has none.
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
