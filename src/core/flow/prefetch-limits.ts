import type { LogRecord } from '../ports.ts'
import { flowLimits } from './limits.ts'

const { recordsPerCall, inProcess, maxInPartition, minInPartition } = flowLimits.prefetch

/** What a record holds in memory, in bytes. A producer may put anything into its headers. */
export function heldBytes({ key, value, headers }: Pick<LogRecord, 'key' | 'value' | 'headers'>): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (const name in headers) bytes += name.length + (headers[name] as string).length
  return bytes
}

/** What one partition may have in progress. At a limit it is paused; below half of all it resumes. */
export interface PrefetchLimits {
  readonly records: number
  readonly bytes: number
  /** Highest received − lowest undone: what a crash reads again. The commit's bitmap covers it. */
  readonly span: number
  /** Records that wait undecoded because they are due soon. */
  readonly dueSoon: number
}

/**
 * The limits of each partition of a process that has so many and makes `maxInFlight` calls
 * concurrently. `stalled` holds while a record is in progress for longer than the stall threshold.
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
    dueSoon: part(inProcess.dueSoon, maxInPartition.dueSoon, minInPartition.dueSoon),
  }
  const forNormal = Math.max(inProcess.minRecordsNormal, forCalls)
  const records = part(forNormal, maxInPartition.records, minInPartition.recordsNormal)
  return { normal: { ...stalled, records }, stalled }
}
