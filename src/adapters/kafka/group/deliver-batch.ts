import { setImmediate } from 'node:timers/promises'
import { heldBytes } from '../../../core/flow/prefetch-limits.ts'
import type { LogConsumerHandlers, LogRecord } from '../../../core/ports.ts'
import type { FetchedBatch } from '../kafkajs/private-api.ts'
import { toLogRecord } from '../log/to-log-record.ts'
import { defaultFetchSize } from './fetch-size-limits.ts'
import type { OwnedPartition } from './owned-partitions.ts'

/**
 * Maximum records of a batch that are delivered in one iteration of the event loop. A compressed
 * batch may contain 50,000 records, which would otherwise block the event loop.
 */
const maxRecordsPerTurn = 1_000
/**
 * Maximum bytes of a batch that are delivered in one iteration of the event loop. A batch may
 * decompress to 64 MiB, and the service can pause the partition only between two iterations.
 */
const maxBytesPerTurn = defaultFetchSize.perPartition

/**
 * Delivers a batch in parts, and advances the position. Ignores a batch whose fetch began above the
 * position, because the records from the position to the start of the fetch would be skipped.
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
