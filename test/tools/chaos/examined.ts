/** What came of looking at something beside what every scenario is judged by. */
export interface Examined {
  /** For whoever reads the row, in words and figures. */
  readonly measured: readonly string[]
  /** Why it fails; empty: everything holds. */
  readonly failures: readonly string[]
}

/** Both of several looks. */
export const together = (parts: readonly Examined[]): Examined => ({
  measured: parts.flatMap(({ measured }) => measured),
  failures: parts.flatMap(({ failures }) => failures),
})

/** How many, and the first three. */
export const some = (all: readonly string[]): string =>
  `${all.length} (${all.slice(0, 3).join('; ')}${all.length > 3 ? '; …' : ''})`

/** 0 for none. `share` from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
