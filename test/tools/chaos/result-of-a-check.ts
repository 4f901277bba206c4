/** Result of an additional check of a scenario. */
export interface CheckResult {
  readonly measured: readonly string[]
  readonly failures: readonly string[]
}

export const combineResults = (parts: readonly CheckResult[]): CheckResult => ({
  measured: parts.flatMap(({ measured }) => measured),
  failures: parts.flatMap(({ failures }) => failures),
})

/** The number of items, and the first three. */
export const some = (all: readonly string[]): string =>
  `${all.length} (${all.slice(0, 3).join('; ')}${all.length > 3 ? '; …' : ''})`

/** A quantile of `values`, or 0 without values. `share` is from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
