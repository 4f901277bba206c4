import { setImmediate } from 'node:timers/promises'
import { flowLimits } from '../../../core/flow/limits.ts'
import { heldBytes } from '../../../core/flow/prefetch-limits.ts'
import type { LogConsumerHandlers, LogRecord } from '../../../core/ports.ts'
import type { FetchedBatch } from '../kafkajs/private-api.ts'
import { toLogRecord } from '../log/to-log-record.ts'
import type { OwnedPartition } from './owned-partitions.ts'

/**
 * Size limits of one fetch, in bytes. kafkajs blocks the event loop while it decodes a fetch, and
 * larger fetches block it for longer.
 */
export interface FetchSize {
  /**
   * Maximum bytes of one partition (Kafka's `max.partition.fetch.bytes`). When a partition is
   * paused during a fetch, the consumer discards up to this number of bytes and fetches them again
   * later.
   */
  readonly perPartition: number
  /** Maximum bytes of the whole fetch (Kafka's `fetch.max.bytes`). */
  readonly total: number
}

/**
 * The fetch size for all topics except the retry topics. Smaller fetches cost more CPU per delivery
 * (`flowLimits.fetch`).
 */
export const defaultFetchSize: FetchSize = flowLimits.fetch.usual

/**
 * The fetch size for retry topics: about 200 records per partition and 800 in total. A fetch of
 * this size blocks the event loop only briefly, so a backlog of due retries does not delay new
 * events for long.
 */
export const smallFetchSize: FetchSize = flowLimits.fetch.retries

/**
 * The maximum number of records of a batch that are delivered in one iteration of the event loop. A
 * compressed batch may contain 50,000 records, which would otherwise block the event loop.
 */
const maxRecordsPerTurn = 1_000
/**
 * The maximum bytes of a batch that are delivered in one iteration of the event loop: as many as an
 * uncompressed fetch returns for a partition. A compressed fetch may decompress to 64 MiB, and
 * delivered records stay in memory until they are processed. So a batch is delivered in parts, and
 * the service can pause the partition between two parts.
 */
const maxBytesPerTurn = defaultFetchSize.perPartition

/**
 * Delivers the records of a fetched batch to `handlers` in parts, and advances the partition's
 * position. It skips the records below the position. It ignores a batch whose fetch began above the
 * position, because the records between the two offsets would be lost.
 *
 * It stops early when the service pauses or seeks the partition between two parts, or the partition
 * is revoked. The consumer fetches the remaining records again later.
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
      const record = toLogRecord(batch.topic, batch.partition, messages[at] as FetchedBatch['messages'][number])
      bytes += heldBytes(record)
      records.push(record)
    }
    const isLast = at >= messages.length
    const nextOffset = isLast ? end : Number(records.at(-1)?.offset) + 1
    partition.next = nextOffset
    partition.lastTimestamp = records.at(-1)?.timestamp ?? partition.lastTimestamp
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
