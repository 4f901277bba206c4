import { murmur2 } from './murmur2.ts'

/** The partition for a key, as computed by Kafka's Java client and all compatible clients. */
export const partitionFor = (key: Buffer, partitions: number): number => (murmur2(key) & 0x7fffffff) % partitions
