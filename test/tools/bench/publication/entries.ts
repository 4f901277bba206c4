import { type Bar, type Finding, type Verdict, verdictOf } from '../bars.ts'
import type { NamedOutcome } from '../report.ts'

/** When, of what and where something was measured. */
export interface Circumstances {
  /** Day, ISO 8601. */
  readonly date: string
  /** What was measured, `… with changes` when files were not as committed. */
  readonly commit: string
  readonly machine: string
  /** Load average of the last minute when the run began: who else was at work. */
  readonly load: number
  /** Repetitions, of which medians count. */
  readonly runs: number
}

/** One figure as it is published; JSON knows no number for what was not measured or never came. */
export interface Value extends Omit<Finding, 'subject' | 'measured'> {
  readonly measured: number | null
  readonly verdict: Verdict
}

/** One row in one variant. */
export interface Entry extends Circumstances {
  readonly row: string
  /** Who was measured, and at what: `hookline got, 20 ms`. */
  readonly variant: string
  readonly values: readonly Value[]
}

/** What a row has found, an entry for each variant. */
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

/** The entries with a new verdict on each figure, because a bar can have changed. */
export const judged = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map(entry => ({ ...entry, values: entry.values.map(value => ({ ...value, verdict: verdictNow(value) })) }))

const verdictNow = (value: Value): Verdict =>
  verdictOf({ ...value, subject: '', measured: value.measured ?? Number.NaN } satisfies Finding & Bar)

/**
 * The entries with what was measured anew in the place of what it replaces, in the order of the rows. A run of all variants replaces its
 * rows as a whole: variants that there are no more do not stay.
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

/** Rows of which nothing was ever published. */
export const neverPublished = (entries: readonly Entry[], rows: readonly string[]): readonly string[] =>
  rows.filter(row => !entries.some(entry => entry.row === row))

/** One published figure; undefined when there is none. */
export const figureOf = (
  entries: readonly Entry[],
  { row, variant, what }: { readonly row: string; readonly variant: string; readonly what: string },
): Value | undefined =>
  entries.find(entry => entry.row === row && entry.variant === variant)?.values.find(value => value.what === what)
