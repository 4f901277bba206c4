import type { TopicPartition } from './ports.ts'

/** Identifies a partition: `<topic>/<partition>`. It is also the key of its ledger records. */
export const partitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`
