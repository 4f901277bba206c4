import { setImmediate } from 'node:timers/promises'
import { flowLimits } from '../../../core/flow/limits.ts'
import { heldBytes } from '../../../core/flow/prefetch-limits.ts'
import type { LogConsumerHandlers, LogRecord } from '../../../core/ports.ts'
import type { FetchedBatch } from '../kafkajs/private-api.ts'
import { recordOf } from '../log/fetch.ts'
import type { OwnedPartition } from './owned-partitions.ts'

/**
 * Limits of one fetch of a group, in bytes. One fetch is decoded in one go, which blocks the
 * process.
 */
export interface FetchSize {
  /** Bounds what is discarded when a partition is paused during a fetch. */
  readonly perPartition: number
  readonly total: number
}

/** For throughput: small fetches cost more for each delivery (docs/decisions/0043). */
export const usualFetch: FetchSize = flowLimits.fetch.usual

/**
 * For retry topics: some 200 retry records per partition, 900 in total. While an endpoint receives
 * its overdue retries, events for other destinations do not wait for a large fetch.
 */
export const smallFetch: FetchSize = flowLimits.fetch.retries

/** Records delivered in one event loop turn. One fetch may contain 50,000 compressed records. */
const maxRecordsPerTurn = 1_000
/**
 * Bytes delivered in one event loop turn. A compressed fetch may unpack to 64 MiB, and delivered
 * records stay in memory until they are done: limit it to the size of an uncompressed batch.
 */
const maxBytesPerTurn = usualFetch.perPartition

/**
 * Delivers the records of a batch in parts, from the partition's position on, and advances the
 * position. Stops early when the partition is paused, sought elsewhere or lost in between: the rest
 * is fetched again. A batch that begins above the position would skip records and is ignored.
 */
export async function deliverBatch(
  batch: FetchedBatch,
  partition: OwnedPartition,
  isOwned: () => boolean,
  handlers: Pick<LogConsumerHandlers, 'onRecords'>,
): Promise<void> {
  const end = Number(batch.lastOffset()) + 1
  if (Number(batch.fetchedOffset) > partition.next || end <= partition.next) return
  const messages = batch.messages.filter(({ offset }) => Number(offset) >= partition.next)
  let at = 0
  while (isOwned() && !partition.paused) {
    const records: LogRecord[] = []
    for (let bytes = 0; at < messages.length && records.length < maxRecordsPerTurn && bytes < maxBytesPerTurn; at++) {
      const record = recordOf(batch.topic, batch.partition, messages[at] as FetchedBatch['messages'][number])
      bytes += heldBytes(record)
      records.push(record)
    }
    const isLast = at >= messages.length
    const nextOffset = isLast ? end : Number(records.at(-1)?.offset) + 1
    partition.next = nextOffset
    handlers.onRecords({
      topic: batch.topic,
      partition: batch.partition,
      records,
      nextOffset,
      highWatermark: Number(batch.highWatermark),
    })
    if (isLast || partition.next !== nextOffset) return
    await setImmediate()
    if (partition.next !== nextOffset) return
  }
}
