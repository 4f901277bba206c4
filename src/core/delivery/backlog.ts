/** What may be open (taken up and not done) in one partition before it is paused; it goes on below half. */
export interface BacklogLimits {
  readonly records: number
  readonly bytes: number
  /** Highest received − lowest undone: what a crash reads again behind one slow record. The commit's bitmap covers it. */
  readonly span: number
}

const mebibyte = 1024 * 1024
/** For all partitions of a process together: what bounds its memory. */
const inProcess = { records: 24_000, bytes: 64 * mebibyte }
const inPartition: BacklogLimits = { records: 2_000, bytes: 8 * mebibyte, span: 20_000 }
/** With very many partitions: enough to keep calls under way. */
const least = { records: 100, bytes: mebibyte / 2 }

/** The limits of each of `partitions` partitions. */
export function backlogLimits(partitions: number): BacklogLimits {
  const part = (of: 'records' | 'bytes'): number =>
    Math.max(least[of], Math.min(inPartition[of], Math.floor(inProcess[of] / Math.max(1, partitions))))
  return { records: part('records'), bytes: part('bytes'), span: inPartition.span }
}
