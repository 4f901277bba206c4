import type { LogRecord } from '../ports.ts'
import { flowLimits } from './flow-control-constants.ts'

const { recordsPerCall, inProcess, maxInPartition, minInPartition } = flowLimits.prefetch

/**
 * The size of a record in memory. Headers are included, because a producer may write headers of any
 * size.
 */
export function heldBytes({ key, value, headers }: Pick<LogRecord, 'key' | 'value' | 'headers'>): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (const name in headers) bytes += name.length + (headers[name] as string).length
  return bytes
}

/**
 * A partition pauses when it exceeds `records`, `bytes` or `span`, or has too many deliveries
 * (`deliveriesPerRecord`). It resumes when all four numbers are at most half of their limits.
 */
export interface PrefetchLimits {
  readonly records: number
  readonly bytes: number
  /**
   * Maximum number of offsets from the lowest unfinished record to the next record to read. An
   * offset commit marks the finished records among them in a bitmap of limited size.
   */
  readonly span: number
  /**
   * Maximum number of fetched records that stay in memory, undecoded, while the partition waits
   * until a retry record is due.
   */
  readonly dueSoonRecords: number
}

/**
 * Returns the limits for each partition of a process that owns `partitions` partitions. `stalled`
 * applies while a record has been in progress for at least `stallThresholdMs`. Otherwise, `normal`
 * applies.
 */
export function prefetchLimits(
  partitions: number,
  maxInFlight: number,
): { readonly normal: PrefetchLimits; readonly stalled: PrefetchLimits } {
  const forCalls = recordsPerCall * maxInFlight
  const part = (whole: number, max: number, min: number): number =>
    Math.max(min, Math.min(max, Math.floor(whole / Math.max(1, partitions))))
  const stalled = {
    records: part(Math.max(inProcess.minRecordsStalled, forCalls), maxInPartition.records, minInPartition.records),
    bytes: part(inProcess.bytes, maxInPartition.bytes, minInPartition.bytes),
    span: maxInPartition.span,
    dueSoonRecords: part(inProcess.dueSoonRecords, maxInPartition.dueSoonRecords, minInPartition.dueSoonRecords),
  }
  const forNormal = Math.max(inProcess.minRecordsNormal, forCalls)
  const records = part(forNormal, maxInPartition.records, minInPartition.recordsNormal)
  return { normal: { ...stalled, records }, stalled }
}
