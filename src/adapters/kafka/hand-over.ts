import { setImmediate } from 'node:timers/promises'
import { heldBytes } from '../../core/delivery/backlog.ts'
import type { LogConsumerHandlers, LogRecord } from '../../core/ports.ts'
import { usualFetch } from './fetch-size.ts'
import type { Batch } from './internals.ts'
import type { OwnedPartition } from './partitions.ts'
import { recordOf } from './records.ts'

/** One fetch may bring 50,000 compressed records at once. */
const recordsAtOnce = 1_000
/** Or 64 MiB of them. What is handed over stays in memory until it is done: no more than of a batch that is not compressed. */
const bytesAtOnce = usualFetch.inPartition

/**
 * Hands the records of a batch over, from the partition's position on and in parts, and moves the position along. It ends early when the
 * partition is paused, sought elsewhere or no longer ours in between: what was not taken is fetched again. A batch that begins above the
 * position would leave records out: nothing of it is taken.
 */
export async function handOver(
  batch: Batch,
  partition: OwnedPartition,
  isOurs: () => boolean,
  handlers: Pick<LogConsumerHandlers, 'onRecords'>,
): Promise<void> {
  const end = Number(batch.lastOffset()) + 1
  if (Number(batch.fetchedOffset) > partition.next || end <= partition.next) return
  const messages = batch.messages.filter(({ offset }) => Number(offset) >= partition.next)
  let at = 0
  while (isOurs() && !partition.paused) {
    const records: LogRecord[] = []
    for (let bytes = 0; at < messages.length && records.length < recordsAtOnce && bytes < bytesAtOnce; at++) {
      const record = recordOf(batch.topic, batch.partition, messages[at] as Batch['messages'][number])
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
