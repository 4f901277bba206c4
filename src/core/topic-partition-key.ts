import type { TopicPartition } from './ports.ts'

/**
 * Identifies a partition: `<topic>/<partition>`. The ledger records of the partition have this text
 * as their key.
 */
export const partitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`
