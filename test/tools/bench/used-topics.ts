import type { LogProducer } from '../../../src/core/ports.ts'
import { createAdminClient } from '../../support/kafka/admin.ts'
import { createAppend } from './append.ts'

/** Larger than the distance between two entries of a partition's index. */
const batch = Buffer.alloc(5_000)

/**
 * Fills and empties topics before a measurement. The first index entry of a new partition costs the
 * broker about 16 ms of CPU once, or 140 ms beside other load. The first writes to twelve
 * partitions of a retry topic under load would take a second and a half without any
 * acknowledgement.
 */
export async function useTopics(
  { brokers, producer }: { readonly brokers: readonly string[]; readonly producer: LogProducer },
  topics: readonly { readonly name: string; readonly partitions: number }[],
): Promise<void> {
  // The broker adds an index entry for the batch after this number of bytes.
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
