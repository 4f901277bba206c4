/** A row of the counts of a replay. `refusal` is absent if its dead letters can be replayed. */
interface CountRow {
  readonly count: number
  readonly refusal?: string | undefined
}

/**
 * Sums the counts of the dry run of a replay, in dead letters. The progress of the job does not have
 * these numbers, because a dry run replays nothing.
 */
export function dryRunSums(counts: readonly CountRow[] = []) {
  const sum = (isRefused: boolean): number =>
    counts.reduce((all, { count, refusal }) => ((refusal !== undefined) === isRefused ? all + count : all), 0)
  return { replayable: sum(false), refused: sum(true) }
}
