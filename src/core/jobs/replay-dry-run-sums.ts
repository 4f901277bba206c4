interface Sums {
  readonly replayable: number
  readonly refused: number
}

/**
 * A row of the `counts` of a replay. `refusal` is absent if the replay can copy the dead letters.
 */
interface CountRow {
  readonly count: number
  readonly refusal?: string | undefined
}

/**
 * Returns how many dead letters a replay would copy or refuse. A dry run of an earlier version of
 * Hookline has no `replayable`. Then the sums of `counts` are returned. They can be too low,
 * because a job stores at most `maxCountRows` rows.
 */
export function dryRunSums(
  { replayable, refused = 0 }: { readonly [key in keyof Sums]?: number | undefined },
  counts: readonly CountRow[] = [],
): Sums {
  if (replayable !== undefined) return { replayable, refused }
  const sum = (isRefused: boolean): number =>
    counts.reduce((all, { count, refusal }) => ((refusal !== undefined) === isRefused ? all + count : all), 0)
  return { replayable: sum(false), refused: sum(true) }
}
