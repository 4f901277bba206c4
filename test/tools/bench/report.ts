import { type Bound, type Finding, type Verdict, verdictOf } from './bounds.ts'
import type { Figures, Outcome } from './rows/row.ts'

export interface NamedOutcome extends Outcome {
  readonly row: string
  /** Error message of a row without a result. */
  readonly broke?: string
}

export const failuresOf = (outcomes: readonly NamedOutcome[]): readonly Finding[] =>
  outcomes.flatMap(({ findings }) => findings).filter(finding => verdictOf(finding) === 'FAILS')

export function reportOf(outcomes: readonly NamedOutcome[]): string {
  return outcomes.map(outcome => [`## ${outcome.row}`, ...tables(outcome)].join('\n\n')).join('\n\n')
}

function tables({ figures, findings }: Outcome): readonly string[] {
  const header = ['program and case', 'figure', 'measured', 'must', 'aim', 'verdict']
  const lines = findings.map(finding => [
    finding.subject,
    finding.what,
    amountOf(finding),
    bound(finding.must),
    bound(finding.aim),
    verdictOf(finding) satisfies Verdict,
  ])
  return [...sheets(figures), ...(lines.length > 0 ? [table(header, lines)] : [])]
}

/** `measured` is null if the value was infinite or not measured. */
export const amountOf = ({ measured, unit }: { readonly measured: number | null; readonly unit?: string }): string =>
  [shown(measured ?? Number.NaN), unit].filter(Boolean).join(' ')

/** Figures with the same columns share one table. */
function sheets(figures: readonly Figures[]): readonly string[] {
  const byColumns = Map.groupBy(figures, each => Object.keys(each).join('\n'))
  return [...byColumns.values()].map(lines =>
    table(
      Object.keys(lines[0] ?? {}),
      lines.map(line => Object.values(line).map(each => (typeof each === 'number' ? shown(each) : each))),
    ),
  )
}

/** For example `≥ 0.75`. */
export function bound(value: Bound | undefined): string {
  if (value === undefined) return ''
  return 'atLeast' in value ? `≥ ${shown(value.atLeast)}` : `≤ ${shown(value.atMost)}`
}

/**
 * Formats a number, with three significant digits below 100. Infinity becomes `never`, and NaN `-`.
 */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'never' : '-'
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}

function table(header: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = header.map((name, column) => Math.max(name.length, ...lines.map(line => line[column]?.length ?? 0)))
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`
  return [row(header), rule, ...lines.map(row)].join('\n')
}
