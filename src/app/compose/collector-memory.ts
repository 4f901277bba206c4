import type { CollectorMemory } from '../../services/collector/collector.ts'

const mebibyte = 1_048_576
/**
 * Maximum memory of a process for request bodies with a known write key, their rejected messages,
 * and long responses; `minBodies` can raise it. 32 MiB have room for 65 of the largest SDK batches
 * (512 000 bytes).
 */
const bodiesBytes = 32 * mebibyte
/**
 * Maximum memory of a process for request bodies without a known write key: 16 of the largest SDK
 * batches.
 */
const keylessBytes = 8 * mebibyte
/** Maximum memory of a process for request bodies of the operator API; at least `maxBodyBytes`. */
const operatorsBytes = 16 * mebibyte
/**
 * Maximum memory of a process for unacknowledged records: enough for a leader election of about 5
 * seconds at 10 MB/s. One source may use three quarters. `recordsOfBodies` can raise it.
 */
const recordsBytes = 48 * mebibyte
/** Maximum memory of a process for unacknowledged records of rejected messages. */
const rejectedBytes = 8 * mebibyte
/**
 * The minimum memory for request bodies, as a multiple of the maximum body size. A body needs up to
 * twice its size while it is read, and one source gets at most half of the memory.
 */
const minBodies = 4
/**
 * The minimum memory for records, as a multiple of the maximum body size. With 1, the records of
 * the largest body would fit only while no other source has any.
 */
const recordsOfBodies = 2
/** Maximum memory for the copies of a batch's `context` in its records. */
const contextBytes = 8 * mebibyte

interface CollectorLimits {
  readonly maxBodyBytes: number
  readonly bodyBytesPerAddress: number | undefined
}

/**
 * The maximum memory of a collector process for each purpose. With `maxBodyBytes` above 8 MiB, the
 * sum rises by up to seven bytes per byte of `maxBodyBytes`.
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
