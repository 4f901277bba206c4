import { murmur2 } from '../message/murmur2.ts'

/**
 * The results at one destination in this process since the start of the current period of 15
 * minutes.
 */
export interface Counts {
  /** Deliveries that a webhook accepted. */
  delivered: number
  /** Attempts that no webhook accepted. One delivery can have several failed attempts. */
  failed: number
  deadLettered: number
  dropped: number
}

/** The results at all destinations since the start of the process. These numbers only increase. */
export interface Totals {
  /** Deliveries of new events. Retries do not count. */
  admitted: number
  delivered: number
  failed: number
}

/**
 * Number of shards. A shard is a group of destinations whose status is in one record, so that a
 * change does not rewrite the status of all destinations.
 */
export const shardCount = 64

/** The number of the shard to which a destination belongs, the same in every process. */
export const shardOf = (destination: string): number => (murmur2(Buffer.from(destination)) >>> 0) % shardCount

/** Counts the results of this process for each destination. */
export class ResultCounts {
  readonly totals: Totals = { admitted: 0, delivered: 0, failed: 0 }
  readonly #shards = Array.from({ length: shardCount }, () => new Map<string, Counts>())

  of(destination: string): Counts {
    const shard = this.shard(shardOf(destination)) as Map<string, Counts>
    let counts = shard.get(destination)
    if (counts === undefined) {
      counts = { delivered: 0, failed: 0, deadLettered: 0, dropped: 0 }
      shard.set(destination, counts)
    }
    return counts
  }

  shard(index: number): ReadonlyMap<string, Counts> {
    return this.#shards[index] as Map<string, Counts>
  }

  delivered(counts: Counts): void {
    counts.delivered++
    this.totals.delivered++
  }

  failed(counts: Counts): void {
    counts.failed++
    this.totals.failed++
  }
}
