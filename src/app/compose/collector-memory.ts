import type { CollectorMemory } from '../../services/collector/collector.ts'

const mebibyte = 1_048_576
/**
 * Maximum memory of a process for request bodies with a known write key, the rejected messages of
 * these bodies, and long responses. `minBodies` can raise this maximum. 32 MiB have room for 10 000
 * small requests or 65 of the largest SDK batches (512 000 bytes), and fit into a container with
 * 512 MiB.
 */
const bodiesBytes = 32 * mebibyte
/**
 * Maximum memory of a process for request bodies without a known write key: 16 of the largest SDK
 * batches.
 */
const keylessBytes = 8 * mebibyte
/**
 * Maximum memory of a process for request bodies of the operator API. If `maxBodyBytes` is higher,
 * `maxBodyBytes` is the maximum.
 */
const operatorsBytes = 16 * mebibyte
/**
 * Maximum memory of a process for records that Kafka has not acknowledged: enough for a leader
 * election of about 5 seconds at 10 MB/s. One source may use three quarters of this memory.
 * `recordsOfBodies` can raise the maximum.
 */
const recordsBytes = 48 * mebibyte
/** Maximum memory of a process for unacknowledged Kafka records of rejected messages. */
const rejectedBytes = 8 * mebibyte
/**
 * The minimum memory for request bodies, as a multiple of the maximum body size. A body takes up to
 * twice its size while it is read, and one source gets at most half of the memory. So with 4, every
 * source can send a body of the maximum size.
 */
const minBodies = 4
/**
 * The minimum memory for records, as a multiple of the maximum body size. With 2, the records of
 * the largest body fit even while other sources have some records in memory (`SharedMemory`). With
 * 1, they would fit only while no other source has any.
 */
const recordsOfBodies = 2
/** Maximum memory for the copies of a batch's `context`: each record of the batch has a copy. */
const contextBytes = 8 * mebibyte

interface CollectorLimits {
  readonly maxBodyBytes: number
  readonly bodyBytesPerAddress: number | undefined
}

/**
 * Returns the maximum memory of a collector process for each purpose. With `maxBodyBytes` above
 * 8 MiB, the sum of these maximums rises by up to seven bytes per byte of `maxBodyBytes`.
 */
export function collectorMemory({ maxBodyBytes, bodyBytesPerAddress }: CollectorLimits): CollectorMemory {
  const authenticated = Math.max(bodiesBytes, minBodies * maxBodyBytes)
  const perAddress = bodyBytesPerAddress ?? authenticated / 2
  return {
    bodies: { authenticated, keyless: keylessBytes, perAddress },
    operators: Math.max(operatorsBytes, maxBodyBytes),
    records: Math.max(recordsBytes, recordsOfBodies * maxBodyBytes + contextBytes),
    rejected: rejectedBytes,
  }
}
