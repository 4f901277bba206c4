import type { LogProducer } from '../../../src/core/ports.ts'
import { createAdminClient } from '../../support/kafka/admin.ts'
import { createAppend } from './append-records.ts'

/**
 * Value of a record. It is larger than the number of bytes after which a broker adds an entry to
 * the index of a partition.
 */
const batch = Buffer.alloc(5_000)

/**
 * Writes records to the topics before a measurement, and deletes these records. Each partition then
 * has its first index entry, which costs the broker about 16 ms of CPU, or 140 ms if the machine is
 * busy. A retry topic has twelve partitions. Without this preparation, the first writes to a retry
 * topic under load would wait 1.5 s for an acknowledgement.
 */
export async function useTopics(
  { brokers, producer }: { readonly brokers: readonly string[]; readonly producer: LogProducer },
  topics: readonly { readonly name: string; readonly partitions: number }[],
): Promise<void> {
  // Write two batches to each partition. The first one exceeds the number of bytes between two
  // index entries, so the broker adds an entry with the second one.
  for (const _ of ['bytes', 'entry'])
    for (const { name, partitions } of topics) {
      const append = createAppend(producer, name)
      for (let partition = 0; partition < partitions; partition += 1)
        await append.one({ key: null, value: batch, headers: {}, partition })
      await append.all()
    }
  const admin = await createAdminClient(brokers.join(','))
  try {
    for (const { name, partitions } of topics) await admin.deleteRecords(name, [...Array(partitions).keys()])
  } finally {
    await admin.close()
  }
}
