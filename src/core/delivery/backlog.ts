/** What may be open (taken up and not done) in one partition before it is paused; it goes on below half. */
export interface BacklogLimits {
  readonly records: number
  readonly bytes: number
  /** Highest received − lowest undone: what a crash reads again behind one slow record. The commit's bitmap covers it. */
  readonly span: number
}

const mebibyte = 1024 * 1024
/** For all partitions of a process together: some 5 KB a record bound its memory, and it is twice the calls that a process can have under way. */
const inProcess = { records: 10_000, bytes: 32 * mebibyte }
const inPartition: BacklogLimits = { records: 1_000, bytes: 4 * mebibyte, span: 20_000 }
/** With very many partitions: enough to keep calls under way. */
const least = { records: 100, bytes: mebibyte / 2 }

/** The limits of each of `partitions` partitions. */
export function backlogLimits(partitions: number): BacklogLimits {
  const part = (of: 'records' | 'bytes'): number =>
    Math.max(least[of], Math.min(inPartition[of], Math.floor(inProcess[of] / Math.max(1, partitions))))
  return { records: part('records'), bytes: part('bytes'), span: inPartition.span }
}
