import type { LogProducer } from '../../../src/core/ports.ts'
import { createAdminClient } from '../../support/kafka/admin.ts'
import { createAppend } from './append.ts'

/** Larger than the number of bytes after which a broker adds an entry to a partition's index. */
const batch = Buffer.alloc(5_000)

/**
 * Fills and empties topics before a measurement. The first index entry of a new partition costs the
 * broker about 16 ms of CPU once, or 140 ms beside other load. Without this preparation, the first
 * writes to the twelve partitions of a retry topic under load would wait a second and a half for an
 * acknowledgement.
 */
export async function useTopics(
  { brokers, producer }: { readonly brokers: readonly string[]; readonly producer: LogProducer },
  topics: readonly { readonly name: string; readonly partitions: number }[],
): Promise<void> {
  // The first batch exceeds the number of bytes between two index entries, so the broker adds an
  // entry with the second batch.
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
