import type { LogProducer } from '../../../src/core/ports.ts'
import { createAdminClient } from '../../support/kafka/admin.ts'
import { createAppend } from './append-records.ts'

interface Topic {
  readonly name: string
  readonly partitions: number
}

/**
 * A value that is larger than the bytes after which a broker adds an index entry to a partition.
 */
const batch = Buffer.alloc(5_000)

/**
 * Gives each partition its first index entry, which costs the broker CPU time. Otherwise, the first
 * writes under load would wait 1.5 s.
 */
export async function useTopics(
  { brokers, producer }: { readonly brokers: readonly string[]; readonly producer: LogProducer },
  topics: readonly Topic[],
): Promise<void> {
  // The first batch exceeds the bytes between two index entries, so the broker adds an index entry
  // with the second batch.
  for (const _ of ['bytes', 'entry'])
    for (const { name, partitions } of topics) {
      const append = createAppend(producer, name)
      for (let partition = 0; partition < partitions; partition += 1)
        await append.one({ key: null, value: batch, headers: {}, partition })
      await append.all()
    }
  await deleteAllRecords(brokers, topics)
}

export async function deleteAllRecords(brokers: readonly string[], topics: readonly Topic[]): Promise<void> {
  const admin = await createAdminClient(brokers.join(','))
  try {
    for (const { name, partitions } of topics) await admin.deleteRecords(name, [...Array(partitions).keys()])
  } finally {
    await admin.close()
  }
}
