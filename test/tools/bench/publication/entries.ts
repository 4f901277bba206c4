import { type Bar, type Finding, type Verdict, verdictOf } from '../bounds.ts'
import type { NamedOutcome } from '../report.ts'

export interface Circumstances {
  /** Day, ISO 8601. */
  readonly date: string
  /** Commit id, followed by ` with changes` when the checkout had uncommitted changes. */
  readonly commit: string
  readonly machine: string
  /** Load average of the last minute at the start of the run. */
  readonly load: number
  /** Number of repetitions of each measurement. */
  readonly runs: number
}

/**
 * One published figure. `measured` is null when it was not measured or infinite, because JSON has
 * no such numbers.
 */
export interface Value extends Omit<Finding, 'subject' | 'measured'> {
  readonly measured: number | null
  readonly verdict: Verdict
}

/** One variant of a row. */
export interface Entry extends Circumstances {
  readonly row: string
  /** The subject and the conditions of the measurement: `hookline got, 20 ms`. */
  readonly variant: string
  readonly values: readonly Value[]
}

/** Entries of a row's result, one per variant. */
export const entriesOf = ({ row, findings }: NamedOutcome, circumstances: Circumstances): readonly Entry[] =>
  [...Map.groupBy(findings, ({ subject }) => subject)].map(([variant, found]) => ({
    row,
    variant,
    ...circumstances,
    values: found.map(toValue),
  }))

function toValue(finding: Finding): Value {
  const { subject: _, measured, ...rest } = finding
  return { ...rest, measured: Number.isFinite(measured) ? measured : null, verdict: verdictOf(finding) }
}

/** Judges the entries again, because limits can have changed. */
export const judged = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map(entry => ({ ...entry, values: entry.values.map(value => ({ ...value, verdict: verdictNow(value) })) }))

const verdictNow = (value: Value): Verdict =>
  verdictOf({ ...value, subject: '', measured: value.measured ?? Number.NaN } satisfies Finding & Bar)

/**
 * Replaces published entries with new ones, in the order of the rows. A run with all variants
 * replaces whole rows, so that variants that no longer exist disappear.
 */
export function replaced(
  published: readonly Entry[],
  fresh: readonly Entry[],
  { rows, isWhole }: { readonly rows: readonly string[]; readonly isWhole: boolean },
): readonly Entry[] {
  const isSame = (a: Entry, b: Entry): boolean => a.row === b.row && a.variant === b.variant
  const goes = (old: Entry): boolean => isWhole && fresh.some(({ row }) => row === old.row)
  const kept = published.filter(old => !goes(old)).map(old => fresh.find(each => isSame(each, old)) ?? old)
  const added = fresh.filter(each => !kept.includes(each))
  return rows.flatMap(row => [...kept, ...added].filter(entry => entry.row === row))
}

/** Rows without any published entry. */
export const neverPublished = (entries: readonly Entry[], rows: readonly string[]): readonly string[] =>
  rows.filter(row => !entries.some(entry => entry.row === row))

/** One published figure; undefined when there is none. */
export const figureOf = (
  entries: readonly Entry[],
  { row, variant, what }: { readonly row: string; readonly variant: string; readonly what: string },
): Value | undefined =>
  entries.find(entry => entry.row === row && entry.variant === variant)?.values.find(value => value.what === what)
