import type { ShownJob } from '../adapters/operator-client/job-client.ts'
import { countWithNoun } from '../core/count-with-noun.ts'
import { dryRunSums } from '../core/jobs/replay-dry-run-sums.ts'
import { tooLargeText } from '../core/jobs/too-large-events-text.ts'
import { tableOf } from './terminal-table-and-progress-bar.ts'

/**
 * The result of a job: its counts, the partitions from which retention has removed events, and the
 * totals.
 */
export function jobLines(job: ShownJob): readonly string[] {
  const { counts = [], missing = [] } = job
  const rows = counts.map(({ count, destination, reason, topic = '-', refusal = '-' }) => [
    ...[String(count), destination, reason, topic, refusal],
  ])
  return [
    ...(rows.length === 0 ? [] : tableOf(['COUNT', 'DESTINATION', 'REASON', 'TARGET', 'REFUSAL'], rows)),
    ...(missing.length === 0 ? [] : [missingText(missing.map(({ partition }) => partition))]),
    totalsOf(job),
  ]
}

const missingText = (partitions: readonly number[]): string =>
  `the resend may be incomplete, because Kafka may have deleted events of this time span; affected partitions: ${partitions.join(', ')}`

function totalsOf({ kind, state, dryRun = false, progress, counts }: ShownJob): string {
  const { seen = 0, replayed = 0, refused = 0, read = 0, sent = 0, skipped = 0, tooLarge } = progress
  if (kind === 'replay') {
    const sums = dryRunSums(progress, counts)
    const results = dryRun
      ? `${sums.replayable} would be replayed, ${sums.refused} could not be replayed`
      : `${replayed} replayed, ${refused} not replayed`
    return `${countWithNoun(seen, 'dead letter')} read; of those that match the filters: ${results}; state: ${state}`
  }
  return `${countWithNoun(read, 'event')} read, ${sent} ${dryRun ? 'would be resent' : 'resent'}, ${skipped} skipped (for example events for other destinations, events of other types or users, and events of deleted users)${tooLargeText(tooLarge)}; state: ${state}`
}
