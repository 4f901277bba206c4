import type { LogRecord } from '../ports.ts'

/** What a record holds in memory, in bytes. A producer may put anything into its headers. */
export function heldBytes({ key, value, headers }: Pick<LogRecord, 'key' | 'value' | 'headers'>): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (const name in headers) bytes += name.length + (headers[name] as string).length
  return bytes
}

/** What one partition may have in memory. At the limits of what is open (taken up and not done) it is paused; it goes on below half. */
export interface BacklogLimits {
  readonly records: number
  readonly bytes: number
  /** Highest received − lowest undone: what a crash reads again behind one slow record. The commit's bitmap covers it. */
  readonly span: number
  /** Records that wait as they were fetched because they are due soon. */
  readonly dueSoon: number
}

const mebibyte = 1024 * 1024
/** For all partitions of a process together: they bound its memory, which is some 3 KB a record beside its bytes. */
const inProcess = { leastForCalls: 600, leastRecords: 2_000, bytes: 32 * mebibyte, dueSoon: 10_000 }
/** So many records for each call that may be under way: one is called, the other is ready when its place is free. */
const recordsPerCall = 2
const inPartition: BacklogLimits = { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoon: 1_000 }
/** With very many partitions: enough to keep calls under way. */
const least = { forCalls: 25, records: 50, bytes: mebibyte / 2, dueSoon: 10 }

/** Of each of so many partitions, in a process that makes `maxInFlight` calls at once; clogged is one in which something does not get on (`cloggedMs`). */
export function backlogLimits(
  partitions: number,
  maxInFlight: number,
): { readonly whileAllGetsOn: BacklogLimits; readonly whileClogged: BacklogLimits } {
  const forCalls = recordsPerCall * maxInFlight
  const part = (whole: number, most: number, least: number): number =>
    Math.max(least, Math.min(most, Math.floor(whole / Math.max(1, partitions))))
  const whileClogged = {
    records: part(Math.max(inProcess.leastRecords, forCalls), inPartition.records, least.records),
    bytes: part(inProcess.bytes, inPartition.bytes, least.bytes),
    span: inPartition.span,
    dueSoon: part(inProcess.dueSoon, inPartition.dueSoon, least.dueSoon),
  }
  const records = part(Math.max(inProcess.leastForCalls, forCalls), inPartition.records, least.forCalls)
  return { whileAllGetsOn: { ...whileClogged, records }, whileClogged }
}

/**
 * Milliseconds. While nothing is taken up for so long without being done, no partition looks further ahead than its calls need: what waits only
 * because all are busy waits better as it was fetched. Taken up it outlives the young objects' space, and makes each delivery a fifth dearer
 * (docs/decisions/0043). Else what a partition holds is for endpoints that do not get on, and behind it may be something for others: it looks on,
 * up to its limit.
 */
export const cloggedMs = 200

/** Milliseconds. What has waited so long for its call in memory shows a lane that is slower than what comes. */
const longestWait = { usual: 1_000, withoutCpu: 10_000 }

/**
 * Since when something must have waited for its call to show that its lane is slow, in a process that was out of CPU until then; monotonic
 * milliseconds. In such a one all lanes wait for it and none for its endpoint, and to move a delivery on takes more of it than to make it. A lane
 * that holds others up shows soon: while they wait for it the process has less to do. Where that does not come it is moved on all the same.
 */
export function slowSince(now: number, outOfCpuUntil: number): number {
  const { usual, withoutCpu } = longestWait
  return now - (now - outOfCpuUntil >= usual ? usual : withoutCpu)
}

/**
 * Milliseconds. What is fetched before its time is fetched again when that has come, but not where it is as near as this: records fall due one
 * by one, and for each of them all that a fetch brings would be decoded anew.
 */
export const dueSoonMs = 1_000
