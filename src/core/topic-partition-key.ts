import type { TopicPartition } from './ports.ts'

/**
 * Identifies a partition: `<topic>/<partition>`. It is the key of the partition's ledger records.
 */
export const partitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`
