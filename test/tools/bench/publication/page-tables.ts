import { code, table } from '../../../../deploy/tools/reference/markdown.ts'
import type { Verdict } from '../bounds.ts'
import type { FigureName } from '../figure-names.ts'
import type { RowName } from '../options.ts'
import { amountOf, bound, shown } from '../report.ts'
import { type Circumstances, type Entry, neverPublished, runsOf, type Value } from './published-entries.ts'
import { rowTexts } from './row-texts.ts'

/**
 * All published results, with a section for each row. Tables of different runs have their own date,
 * commit and machine.
 */
export function pageText(entries: readonly Entry[], rows: readonly RowName[]): string {
  const missing = neverPublished(entries, rows)
  const never = missing.length > 0 ? [`Never published: ${missing.map(code).join(', ')}.`] : []
  const origins = new Set(entries.map(originOf))
  const isOneRun = origins.size === 1
  const sections = rows
    .filter(row => !missing.includes(row))
    .map(row =>
      rowText(
        row,
        entries.filter(entry => entry.row === row),
        isOneRun ? repetitionsOf : entry => `${repetitionsOf(entry)} ${originOf(entry)}`,
      ),
    )
  return [...(isOneRun ? origins : []), ...never, ...sections].join('\n\n')
}

/**
 * The section of one row. Variants under the same circumstances are together, below a text about
 * these circumstances.
 */
function rowText(row: RowName, entries: readonly Entry[], circumstancesOf: (entry: Entry) => string): string {
  const runs = Map.groupBy(entries, circumstancesOf)
  return [
    `### ${row}`,
    rowTexts[row],
    ...[...runs].flatMap(([circumstances, measured]) => [circumstances, ...valuesTables(measured)]),
  ].join('\n\n')
}

const originOf = ({ date, commit, load, machine }: Circumstances): string =>
  `Run of ${date}, commit ${commit}; load average ${shown(load)} at the start; ${machine}.`

const repetitionsOf = (entry: Entry): string => {
  const runs = runsOf(entry)
  return runs === 1 ? 'Measured once.' : `Measured ${runs} times.`
}

/**
 * Variants whose names match `begin` share one table. Its first column, `title`, has the rest of
 * the name.
 */
const wideTables: readonly { readonly begin: RegExp; readonly title: string }[] = [
  { begin: /^request: /, title: 'request' },
  { begin: /^page: /, title: 'page' },
  { begin: /^hookline \w+, 50 a second, /, title: 'number of processes' },
]

/**
 * The tables of entries with the same circumstances, and a text about the figures that they leave
 * out.
 */
function valuesTables(entries: readonly Entry[]): readonly string[] {
  const zeros = requiredZeros(entries)
  const isComplete = areComplete(entries)
  const shownEntries = entries.map(entry => ({
    ...entry,
    values: entry.values.filter(({ what }) => !zeros.includes(what) && !(isComplete && what === completeRuns)),
  }))
  const isWide = ({ variant }: Entry): boolean => wideTables.some(({ begin }) => begin.test(variant))
  const narrow = shownEntries.filter(entry => !isWide(entry))
  return [
    ...(narrow.some(({ values }) => values.length > 0) ? [narrowTable(narrow)] : []),
    ...wideTables.flatMap(({ begin, title }) => {
      const own = shownEntries.filter(({ variant }) => begin.test(variant))
      return own.length > 0 ? [wideTable(own, begin, title)] : []
    }),
    ...(zeros.length > 0 ? [`As required, 0 in all cases: ${zeros.join(', ')}.`] : []),
    ...(isComplete ? ['As required, the verified request of each repetition was complete.'] : []),
  ]
}

const completeRuns: FigureName = 'repetitions in which the verified request was complete'

/** Whether the figure `completeRuns` occurs, and always reaches its limit. */
function areComplete(entries: readonly Entry[]): boolean {
  const values = entries.flatMap(entry => entry.values).filter(({ what }) => what === completeRuns)
  return values.length > 0 && values.every(({ verdict }) => verdict === 'holds')
}

/** Figures that must be 0 and are 0 everywhere. The tables leave them out. */
function requiredZeros(entries: readonly Entry[]): readonly string[] {
  const values = entries.flatMap(entry => entry.values)
  const required = values.filter(({ must }) => must !== undefined && 'atMost' in must && must.atMost === 0)
  return [...new Set(required.map(({ what }) => what))].filter(what =>
    values.every(value => value.what !== what || value.measured === 0),
  )
}

function narrowTable(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ variant, values }) =>
    values.map(value => [
      variant,
      value.what,
      amountOf(value),
      referenceText(value),
      bound(value.must),
      bound(value.aim),
      value.verdict,
    ]),
  )
  return table(['program and case', 'figure', 'measured', 'compared with', 'must', 'aim', 'verdict'], lines)
}

function wideTable(entries: readonly Entry[], begin: RegExp, title: string): string {
  const values = entries.flatMap(entry => entry.values)
  const names = [...new Set(values.map(({ what }) => what))]
  const columns = names.map(what => {
    const limit = bound(values.find(value => value.what === what)?.must)
    return limit === '' ? what : `${what} (must be ${limit})`
  })
  const lines = entries.map(entry => [
    entry.variant.replace(begin, ''),
    ...names.map(what => {
      const value = entry.values.find(each => each.what === what)
      return value === undefined ? '–' : amountOf(value)
    }),
    worst(entry.values.map(({ verdict }) => verdict)),
  ])
  return table([title, ...columns, 'verdict'], lines)
}

const referenceText = ({ reference }: Value): string =>
  reference === undefined ? '' : `${reference.name}: ${amountOf(reference)}`

/** A line of the summary table, with the figures `what` of the bench row `row`. */
export interface Headline {
  readonly title: string
  readonly row: RowName
  readonly what: FigureName
  /** Shows only matching variants. Absent: all. */
  readonly of?: RegExp
}

/**
 * The summary table: a line per headline, with the figures of all variants and their worst verdict.
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

/** Describes the run or runs of the entries, because only figures of one run can be compared. */
function originText(entries: readonly Entry[]): string {
  const origins = new Map(entries.map(entry => [originOf(entry), entry]))
  const dates = entries.map(({ date }) => date).sort()
  const days = [...new Set([dates.at(0), dates.at(-1)])].join(' to ')
  const [origin] = origins.values()
  if (origin === undefined) return 'Nothing is published.'
  if (origins.size === 1) return `One run, ${days}, commit ${origin.commit}; ${origin.machine}.`
  const commits = new Set(entries.map(({ commit }) => commit)).size
  const machines = new Set(entries.map(({ machine }) => machine)).size
  const counts = `${counted(commits, 'commit')}, ${counted(machines, 'machine')}`
  return `Several runs, ${days}: ${counts}. Compare figures only within a line.`
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

const figuresUnder = ({ row, what, of = /^/ }: Headline, entries: readonly Entry[]): readonly Value[] =>
  entries
    .filter(entry => entry.row === row && of.test(entry.variant))
    .flatMap(({ values }) => values.filter(value => value.what === what))

/** One text if all are equal, otherwise all texts joined by slashes. */
const once = ([first = '', ...others]: readonly string[]): string =>
  others.every(each => each === first) ? first : [first, ...others].map(each => each || '–').join(' / ')

const fromTheWorst: readonly Verdict[] = ['FAILS', 'short of the aim', 'holds', 'aim reached', '']

const worst = (verdicts: readonly Verdict[]): Verdict => fromTheWorst.find(each => verdicts.includes(each)) ?? ''
