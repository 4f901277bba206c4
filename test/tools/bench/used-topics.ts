import type { LogProducer } from '../../../src/core/ports.ts'
import { createAdminClient } from '../../support/kafka/admin.ts'
import { createAppend } from './append.ts'

/** More than lies between two entries of a partition's index. */
const batch = Buffer.alloc(5_000)

/**
 * Makes topics as those are that have been in use, and empty: the first entry in the indexes of a fresh partition costs its broker some 16 ms
 * of CPU, and 140 ms where others work beside it, once. Twelve partitions of a retry topic that are written to for the first time under load
 * are a second and a half in which no copy is acknowledged.
 */
export async function useTopics(
  { brokers, producer }: { readonly brokers: readonly string[]; readonly producer: LogProducer },
  topics: readonly { readonly name: string; readonly partitions: number }[],
): Promise<void> {
  // An entry is made for the batch that comes after so many bytes.
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
