import { recordedBare } from '../bars.ts'

/** Another forwarder as it did once; what was not measured of it is absent. */
export interface Peer {
  readonly name: string
  /** Deliveries a CPU second, by milliseconds to the answer. */
  readonly perCpuSecond: Readonly<Record<number, number>>
  /** Least and most peak memory of these runs, in MB. */
  readonly peakMb: readonly [number, number]
  /** 1,000 events a second, answers after 20 ms: from append to answer, in ms. */
  readonly p99?: number
  /** The same to ten endpoints, of which one accepts and never answers, 256 calls in all: part of the others' events in time. */
  readonly inTime?: number
  /** Seconds from SIGKILL to the next delivery, and seconds of traffic that came twice. */
  readonly afterKill?: { readonly silence: number; readonly twice: number }
}

/**
 * Side by side on a machine of the same kind: 2 cores, Kafka 4.4, Node 24; 967-byte events, 12 partitions, one core for the forwarder. They
 * forward the value as it is: no Avro, no signature, no retry topics. What another run measured stands beside ours, and is in no verdict.
 */
export const peers: readonly Peer[] = [
  {
    ...{ name: 'Redpanda Connect 4.105', perCpuSecond: { 0: 10_000, 20: 8_600, 200: 6_800 } },
    ...{ peakMb: [135, 434], p99: 38, inTime: 0.128, afterKill: { silence: 45, twice: 5 } },
  },
  {
    name: 'the same, pool raised in its code',
    perCpuSecond: { 0: 26_900, 20: 23_000, 200: 16_100 },
    peakMb: [133, 413],
  },
  {
    ...{ name: 'Parallel Consumer 0.5.3, by key', perCpuSecond: { 0: 17_300, 20: 14_400, 200: 10_500 } },
    peakMb: [520, 560],
  },
  {
    ...{ name: 'Parallel Consumer 0.5.3, no order', perCpuSecond: { 0: 21_500, 20: 18_900, 200: 14_000 } },
    ...{ peakMb: [520, 560], p99: 36, inTime: 0.19, afterKill: { silence: 45, twice: 5 } },
  },
  { name: 'franz-go + net/http loop', perCpuSecond: { 0: 37_300, 20: 30_600, 200: 22_900 }, peakMb: [98, 299] },
  {
    ...{ name: 'kafkajs + undici loop', perCpuSecond: recordedBare, peakMb: [333, 482], p99: 59 },
    ...{ inTime: 0.001, afterKill: { silence: 30, twice: 5 } },
  },
  {
    name: 'kafkajs + got loop',
    perCpuSecond: { 0: 5_200, 20: 4_800, 200: 3_500 },
    peakMb: [422, 1_120],
    inTime: 0.001,
  },
]
