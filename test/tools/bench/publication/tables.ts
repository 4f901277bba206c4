import { code, table } from '../../../../deploy/tools/reference/markdown.ts'
import type { Verdict } from '../bounds.ts'
import { bound, shown } from '../report.ts'
import { type Circumstances, type Entry, neverPublished, runsOf, type Value } from './entries.ts'
import { labelOf, variantLabelOf } from './labels.ts'

/**
 * Returns all published results: a section for each row of the bench (`delivery`, `live`, …). A
 * section has a table for each run, with the run's date, commit and machine. Measurements of a run
 * that were not repeated have their own table.
 */
export function pageText(entries: readonly Entry[], rows: readonly string[]): string {
  const missing = neverPublished(entries, rows)
  const never = missing.length > 0 ? [`Never published: ${missing.map(code).join(', ')}.`] : []
  const sections = rows
    .filter(row => !missing.includes(row))
    .map(row =>
      rowText(
        row,
        entries.filter(entry => entry.row === row),
      ),
    )
  return [...never, ...sections].join('\n\n')
}

/** Returns the section of one row. Variants of the same run share one table. */
function rowText(row: string, entries: readonly Entry[]): string {
  const runs = Map.groupBy(entries, entry => circumstancesText({ ...entry, runs: runsOf(entry) }))
  return [
    `### ${row}`,
    ...[...runs].flatMap(([circumstances, measured]) => [circumstances, valuesTable(measured)]),
  ].join('\n\n')
}

const circumstancesText = ({ date, commit, runs, load, machine }: Circumstances): string =>
  `${date}, commit ${commit}, ${runs === 1 ? 'one run' : `${runs} runs`}, load ${shown(load)} at the start; ${machine}.`

function valuesTable(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ variant, values }) =>
    values.map(value => [
      variantLabelOf(variant),
      labelOf(value.what),
      amount(value.measured, value.unit),
      referenceText(value),
      bound(value.must),
      bound(value.aim),
      value.verdict,
    ]),
  )
  return table(['variant', 'figure', 'measured', 'compared with', 'must', 'aim', 'verdict'], lines)
}

const amount = (measured: number | null, unit: string | undefined): string =>
  [shown(measured ?? Number.NaN), unit].filter(Boolean).join(' ')

const referenceText = ({ reference }: Value): string =>
  reference === undefined ? '' : `${reference.name}: ${amount(reference.measured, reference.unit)}`

/**
 * A line of the summary table. It shows figures of one row of the bench, such as `delivery`, that
 * have the same name.
 */
export interface Headline {
  readonly title: string
  readonly row: string
  readonly what: string
  /** Only variants whose names match are shown. Absent: all. */
  readonly of?: RegExp
}

/**
 * Returns the summary table with a line per headline. A line has the figures of all variants in one
 * cell, and their worst verdict. A text above the table describes the runs that the figures come
 * from.
 */
export function summaryText(entries: readonly Entry[], headlines: readonly Headline[]): string {
  const lines = headlines.map(headline => {
    const { title } = headline
    const found = figuresUnder(headline, entries)
    const [first] = found
    if (first === undefined) return [title, 'not published', '', '', '']
    const figures = found.map(({ measured }) => shown(measured ?? Number.NaN)).join(' / ')
    return [
      title,
      [figures, first.unit].filter(Boolean).join(' '),
      once(found.map(({ must }) => bound(must))),
      once(found.map(({ aim }) => bound(aim))),
      worst(found.map(({ verdict }) => verdict)),
    ]
  })
  return `${originText(entries)}\n\n${table(['figure', 'measured', 'must', 'aim', 'verdict'], lines)}`
}

/**
 * Describes whether all figures come from one run, commit and machine. Only figures of one run can
 * be compared. Entries of one day, commit and machine come from different runs if the load average
 * at the start differs.
 */
function originText(entries: readonly Entry[]): string {
  const origins = new Map(entries.map(entry => [circumstancesText(entry), entry]))
  const dates = entries.map(({ date }) => date).sort()
  const days = [...new Set([dates.at(0), dates.at(-1)])].join(' to ')
  const [origin] = origins.values()
  if (origin === undefined) return 'Nothing is published.'
  if (origins.size === 1) return `One run, ${days}, commit ${origin.commit}; ${origin.machine}.`
  const commits = new Set(entries.map(({ commit }) => commit)).size
  const machines = new Set(entries.map(({ machine }) => machine)).size
  const counts = `${counted(commits, 'commit')}, ${counted(machines, 'machine')}`
  return `Several runs, ${days}: ${counts}. Compare figures only within a row.`
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

const figuresUnder = ({ row, what, of = /^/ }: Headline, entries: readonly Entry[]): readonly Value[] =>
  entries
    .filter(entry => entry.row === row && of.test(entry.variant))
    .flatMap(({ values }) => values.filter(value => value.what === what))

/** Returns one text if all texts are equal, otherwise all texts joined by slashes. */
const once = ([first = '', ...others]: readonly string[]): string =>
  others.every(each => each === first) ? first : [first, ...others].map(each => each || '–').join(' / ')

const fromTheWorst: readonly Verdict[] = ['FAILS', 'short of the aim', 'holds', 'aim reached', '']

const worst = (verdicts: readonly Verdict[]): Verdict => fromTheWorst.find(each => verdicts.includes(each)) ?? ''
