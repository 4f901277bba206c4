import type { Delivery } from './message-ledger.ts'
import { partitions, type World } from './world.ts'

/**
 * Returns the condition of a recovery: each partition of `hit` has delivered an event that was sent
 * after `from`. `counts` can exclude deliveries.
 */
export function onPartitions(
  hit: Iterable<number>,
  from: number,
  counts: (delivery: Delivery) => boolean = () => true,
) {
  const keyOf = (delivery: Delivery): string | undefined =>
    delivery.sent.at >= from && counts(delivery) ? String(delivery.sent.partition) : undefined
  return { keys: new Set([...hit].map(String)), from, keyOf }
}

/** The time of the chaos run, in ms of the monotonic clock. */
export const now = (): number => performance.now()

export const allPartitions = Array.from({ length: partitions }, (_, index) => index)

export const ownedBy = ({ ledger }: World, name: string): number[] =>
  [...ledger.owners()].flatMap(([partition, owner]) => (owner === name ? [partition] : []))
