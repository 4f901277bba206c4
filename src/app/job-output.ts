import type { ShownJob } from '../adapters/operator-client/job-client.ts'
import { countWithNoun } from '../core/count-with-noun.ts'
import { tableOf } from './terminal.ts'

/** The result of a job: a table of its counts, what retention has removed, and the totals. */
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
  `Kafka has deleted events of this time span, or may have, in ${countWithNoun(partitions.length, 'partition')}: ${partitions.join(', ')}`

function totalsOf({ kind, state, dryRun = false, progress }: ShownJob): string {
  const { seen = 0, replayed = 0, refused = 0, read = 0, sent = 0, skipped = 0 } = progress
  if (kind === 'replay')
    return `${countWithNoun(seen, 'dead letter')}, ${replayed} replayed, ${refused} not replayed: ${state}`
  return `${countWithNoun(read, 'event')}, ${sent} ${dryRun ? 'would be resent' : 'resent'}, ${skipped} not for this destination or not selected: ${state}`
}
