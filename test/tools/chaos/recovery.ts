import type { Delivery } from './ledger.ts'
import { partitions, type World } from './world.ts'

/**
 * The recovery ends when each partition of `hit` has delivered an event sent since `from`. `counts`
 * can exclude deliveries, for example the last ones of the victim.
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

export const allPartitions = Array.from({ length: partitions }, (_, index) => index)

export const ownedBy = ({ ledger }: World, name: string): number[] =>
  [...ledger.owners()].flatMap(([partition, owner]) => (owner === name ? [partition] : []))
