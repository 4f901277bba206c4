import { recorded } from '../bars.ts'

/**
 * What other forwarders did once, side by side on a machine of the same kind (2 cores, Kafka 4.4, Node 24; 967-byte events, 12 partitions, one
 * core for the forwarder): deliveries a CPU second by milliseconds to the answer. They forward the value as it is: no Avro, no signature, no
 * retry topics. A run of other programs stands beside them in the plot, not in the verdicts.
 */
export const peers: readonly { readonly name: string; readonly perCpuSecond: Readonly<Record<number, number>> }[] = [
  { name: 'Redpanda Connect 4.105', perCpuSecond: recorded.redpanda },
  { name: 'the same, pool raised in its code', perCpuSecond: recorded['redpanda-tuned'] },
  { name: 'Parallel Consumer 0.5.3, by key', perCpuSecond: { 0: 17_300, 20: 14_400, 200: 10_500 } },
  { name: 'Parallel Consumer 0.5.3, no order', perCpuSecond: { 0: 21_500, 20: 18_900, 200: 14_000 } },
  { name: 'franz-go + net/http loop', perCpuSecond: { 0: 37_300, 20: 30_600, 200: 22_900 } },
  { name: 'kafkajs + undici loop', perCpuSecond: recorded['bare undici'] },
  { name: 'kafkajs + got loop', perCpuSecond: { 0: 5_200, 20: 4_800, 200: 3_500 } },
]

/** The same under 1,000 events a second, answers after 20 ms: p99 from append to answer, in ms. */
export const peerP99: readonly { readonly name: string; readonly ms: number }[] = [
  { name: 'Redpanda Connect 4.105', ms: 38 },
  { name: 'Parallel Consumer 0.5.3', ms: 36 },
  { name: 'kafkajs + undici loop', ms: 59 },
]
