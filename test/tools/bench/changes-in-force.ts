import type { SuccessLog } from './receiver/event-tally.ts'
import { changeIn } from './topic-destinations.ts'

/** A change of the probe that the operator API has acknowledged. */
export interface Change {
  /** Number of the change, which is also in the path of the requests from then on. */
  readonly number: number
  /** When the response arrived, in milliseconds since 1970. */
  readonly answeredAt: number
}

/**
 * Milliseconds from the response to each change until it was in force in every process: until each
 * partition had delivered a request with this or a later change. Requests show the change only when
 * an event arrives, so the figure is too high by up to the time between two events of a partition,
 * and by the response time of the endpoint. Infinite when a partition never delivered one.
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
