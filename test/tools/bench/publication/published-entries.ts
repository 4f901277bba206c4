import { type Bar, type Finding, limitsNamed, type Verdict, verdictOf } from '../bounds.ts'
import type { FigureName } from '../figure-names.ts'
import { type RowName, repeatedBacklog, rowsWithoutRepetition } from '../options.ts'
import type { NamedOutcome } from '../report.ts'

export interface Circumstances {
  /** In ISO 8601. */
  readonly date: string
  /** ` with changes` follows the id if the checkout had uncommitted changes. */
  readonly commit: string
  readonly machine: string
  /** Load average of one minute at the start of the run. */
  readonly load: number
  /** The variable RUNS. Some measurements run only once (`runsOf`). */
  readonly runs: number
}

/**
 * `measured` is null if the figure was infinite or not measured, because JSON has neither infinity
 * nor NaN.
 */
export interface Value extends Omit<Finding, 'subject' | 'measured'> {
  readonly measured: number | null
  readonly verdict: Verdict
}

export interface Entry extends Circumstances {
  readonly row: string
  /** Subject and conditions, for example `hookline got, responses after 20 ms`. */
  readonly variant: string
  readonly values: readonly Value[]
}

export function runsOf({ row, variant, runs }: Entry): number {
  const [, backlog = '0'] = variant.match(/, backlog of ([\d,]+)$/) ?? []
  const isRepeated =
    !rowsWithoutRepetition.some(name => name === row) && Number(backlog.replaceAll(',', '')) <= repeatedBacklog
  return isRepeated ? runs : 1
}

/** One entry per variant. */
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

/**
 * Computes each verdict with the current limits. Values without `judgedBy` keep their limits, which
 * depend on the run.
 */
export const judged = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map(entry => ({ ...entry, values: entry.values.map(judgedNow) }))

function judgedNow(value: Value): Value {
  const limited = value.judgedBy === undefined ? value : withLimits(value, limitsNamed(value.judgedBy))
  const verdict = verdictOf({ ...limited, subject: '', measured: value.measured ?? Number.NaN } satisfies Finding & Bar)
  return { ...limited, verdict }
}

function withLimits({ must: _, aim: __, ...value }: Value, limits: Bar = {}): Value {
  return { ...value, ...limits }
}

/**
 * Replaces published entries by fresh entries of the same row and variant, and adds further fresh
 * entries. `isWhole` replaces whole rows, so that obsolete variants disappear.
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

export const neverPublished = (entries: readonly Entry[], rows: readonly string[]): readonly string[] =>
  rows.filter(row => !entries.some(entry => entry.row === row))

export const figureOf = (
  entries: readonly Entry[],
  { row, variant, what }: { readonly row: RowName; readonly variant: string; readonly what: FigureName },
): Value | undefined =>
  entries.find(entry => entry.row === row && entry.variant === variant)?.values.find(value => value.what === what)
