import type { CollectorMemory } from '../../services/collector/collector.ts'

const mebibyte = 1_048_576
/**
 * Maximum memory of a process for request bodies with a known write key, for rejected messages from
 * these bodies, and for long responses. With a large `maxBodyBytes`, `minBodyMultiple` raises this
 * limit.
 */
const bodiesBytes = 32 * mebibyte
/**
 * Maximum memory of a process for request bodies without a known write key: 16 of the largest SDK
 * batches.
 */
const keylessBytes = 8 * mebibyte
/**
 * Maximum memory of a process for request bodies of the operator API. A larger `maxBodyBytes`
 * raises this limit.
 */
const operatorsBytes = 16 * mebibyte
/**
 * Maximum memory for unacknowledged records: enough for a leader election of 5 s at 5,000
 * messages of 1 KB per second. With a large `maxBodyBytes`, `minRecordsMultiple` raises this limit.
 */
const recordsBytes = 48 * mebibyte
/** Maximum memory of a process for unacknowledged records of rejected messages. */
const rejectedBytes = 8 * mebibyte
/**
 * Minimum memory for request bodies, as a multiple of the maximum body size: one source gets half
 * of the memory, and the largest body needs twice its size while it is read.
 */
const minBodyMultiple = 4
/**
 * Minimum memory for unacknowledged records, as a multiple of the maximum body size. With 1, the
 * records of the largest body would fit only while no other source has records.
 */
const minRecordsMultiple = 2
/** Maximum memory for the copies of a batch's `context` in its records. */
const contextBytes = 8 * mebibyte

interface CollectorLimits {
  readonly maxBodyBytes: number
  readonly bodyBytesPerAddress: number | undefined
}

/** The maximum memory of a collector process for each purpose. */
export function collectorMemory({ maxBodyBytes, bodyBytesPerAddress }: CollectorLimits): CollectorMemory {
  const authenticated = Math.max(bodiesBytes, minBodyMultiple * maxBodyBytes)
  const perAddress = bodyBytesPerAddress ?? authenticated / 2
  return {
    bodies: { authenticated, keyless: keylessBytes, perAddress },
    operators: Math.max(operatorsBytes, maxBodyBytes),
    records: Math.max(recordsBytes, minRecordsMultiple * maxBodyBytes + contextBytes),
    rejected: rejectedBytes,
  }
}
