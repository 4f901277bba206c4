import { dryRunSums } from '../../../../../src/core/jobs/replay-dry-run-sums.ts'
import { isActive, type Replay } from '../../api/job-types.ts'
import { countText, countWithNoun } from '../../components/number-text.ts'

/** Why a dead letter cannot be replayed, by the refusal code of the operator API. */
const refusalTexts: Readonly<Record<string, string>> = {
  unknown_destination: 'the destination is not configured, or Hookline cannot read the file of the destination',
  disabled: 'the destination is disabled',
  not_connected: 'the source is no longer connected to the destination',
  deletion_expired:
    'the deletion of the user is too old to be replayed (more than about 50 days): delete the user again',
  truncated: 'the dead-letter topic has only the first 64 KiB of the record',
  unreadable: 'the record has invalid headers or its event cannot be decoded',
}

export function dryRunText({
  state,
  progress,
  counts,
  error,
}: Pick<Replay, 'state' | 'progress' | 'counts' | 'error'>): string {
  if (state === 'waiting') return 'The dry run starts when earlier replays and dry runs of replays have ended.'
  if (isActive({ state })) return `Counting… ${countWithNoun(progress?.seen ?? 0, 'dead letter')} read so far.`
  if (state === 'cancelled')
    return 'Hookline did not count all dead letters, because an operator cancelled the dry run.'
  if (state === 'failed') {
    const why = error === undefined ? '.' : `: ${error}`
    return `Hookline did not count all dead letters, because the dry run failed${why}`
  }
  const { replayable, refused } = dryRunSums(progress ?? {}, counts)
  const rest =
    refused > 0
      ? ` ${countWithNoun(refused, 'dead letter')} cannot be replayed: ${reasonsOf(counts ?? [], refused)}.`
      : ''
  return `${countWithNoun(replayable, 'dead letter')} can be replayed.${rest}`
}

/**
 * Why dead letters cannot be replayed. `counts` has at most 200 entries. Dead letters that are not
 * in `counts` are added up without a reason.
 */
function reasonsOf(counts: NonNullable<Replay['counts']>, refused: number): string {
  const sums = new Map<string, number>()
  let others = refused
  for (const { count, refusal } of counts) {
    if (refusal === undefined || count === 0) continue
    sums.set(refusal, (sums.get(refusal) ?? 0) + count)
    others -= count
  }
  const texts = [...sums].map(
    ([refusal, count]) => `${countText(count)} because ${refusalTexts[refusal] ?? `of ${refusal}`}`,
  )
  return [...texts, ...(others > 0 ? [`${countText(others)} for reasons that the dry run does not report`] : [])].join(
    ', ',
  )
}
