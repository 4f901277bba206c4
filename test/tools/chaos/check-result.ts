/** Result of an additional check of a scenario. */
export interface CheckResult {
  /** Figures to print in the row, as text. */
  readonly measured: readonly string[]
  /** Reasons why the check fails. Empty if it passes. */
  readonly failures: readonly string[]
}

/** Combines several checks. */
export const combineResults = (parts: readonly CheckResult[]): CheckResult => ({
  measured: parts.flatMap(({ measured }) => measured),
  failures: parts.flatMap(({ failures }) => failures),
})

/** Returns the number of items and the first three, as text. */
export const some = (all: readonly string[]): string =>
  `${all.length} (${all.slice(0, 3).join('; ')}${all.length > 3 ? '; …' : ''})`

/** Returns a quantile of `values`, or 0 if there are none. `share` is from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
