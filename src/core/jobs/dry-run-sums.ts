/**
 * The part of a row of a replay's `counts` that this file needs. `refusal` says why the replay
 * refuses the dead letters of the row; it is absent if the replay can copy them.
 */
interface CountRow {
  readonly count: number
  readonly refusal?: string | undefined
}

/**
 * Sums the `counts` of the dry run of a replay: how many dead letters it would replay, and how many
 * it would refuse. The progress of the job does not have these numbers, because a dry run replays
 * nothing.
 */
export function dryRunSums(counts: readonly CountRow[] = []) {
  const sum = (isRefused: boolean): number =>
    counts.reduce((all, { count, refusal }) => ((refusal !== undefined) === isRefused ? all + count : all), 0)
  return { replayable: sum(false), refused: sum(true) }
}
