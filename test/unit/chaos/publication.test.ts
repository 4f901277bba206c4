import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { matrix } from '../../chaos/matrix.ts'
import {
  fullTable,
  matrixTable,
  merged,
  type PublishedRow,
  places,
  published,
  readRows,
  withTable,
} from '../../chaos/publication.ts'
import type { Row } from '../../chaos/run.ts'
import { scenarios } from '../../chaos/scenarios.ts'
import { checkout } from '../../support/pages.ts'

const row = (name: string, more: Partial<Row> = {}): PublishedRow =>
  published(
    {
      ...{ name, seed: 7, shows: `what ${name} shows`, brokers: 1, processes: 3, collectors: 0, perSecond: 500 },
      ...{ faults: ['SIGKILL p1', 'SIGKILL p3'], calls: 1_010, seconds: 60, sent: 1_000, delivered: 1_000 },
      ...{
        waiting: 0,
        deadLettered: 0,
        lost: 0,
        duplicates: 10,
        orderedPairs: 900,
        reversed: 0,
        recoveryMs: 6_120,
        latestMs: 6_300,
        pauseMs: null,
      },
      ...{ intake: null, failures: [], duplicated: { bySender: 1, inProgress: 7, ours: 2 } },
      ...more,
    },
    { patience: 1, date: '2026-11-21', commit: '0123abcd', machine: '2 × some CPU, load 0.3', node: 'Node v24' },
  )
const runnable = ['a', 'b', 'c'].map(name => ({ name, shows: `what ${name} shows` }))
const named = (rows: readonly PublishedRow[]): readonly string[] => rows.map(({ name, seed }) => `${name} ${seed}`)

describe('rows that are published', () => {
  it.each([
    ['the first ones', [], [row('b')], ['b 7']],
    ['one replaces that of its name only', [row('a'), row('b')], [row('b', { seed: 8 })], ['a 7', 'b 8']],
    ['they stand in the order of the scenarios', [row('c')], [row('b'), row('a')], ['a 7', 'b 7', 'c 7']],
    ['what is no scenario any more goes', [row('gone'), row('a')], [], ['a 7']],
  ])('%s', (_, before, fresh, after) => expect(named(merged(before, fresh, runnable))).toEqual(after))

  it('say how they came out', () => {
    expect(row('a').verdict).toBe('holds')
    expect(row('a', { failures: ['lost: 1'] }).verdict).toBe('FAILS')
  })
})

describe('the full table', () => {
  it('has a line a row with its circumstances, why what fails does, and what was not run', () => {
    expect(fullTable([row('a'), row('b', { failures: ['lost: 1 (crm m-3)'], lost: 1 })], runnable)).toEqual([
      expect.stringMatching(/^\| {2}\| scenario \| seed \| faults \| sent .* verdict \| day \| commit \| machine \|$/),
      expect.stringMatching(/^(\| --- )+\|$/),
      expect.stringMatching(/^\| what a shows \| a \| 7 \| 2 \| 1000 .* holds \| 2026-11-21 \| 0123abcd \| 2 × some/),
      expect.stringMatching(/^\| what b shows .* FAILS /),
      ...['', 'What fails, and why:', '', '- `b`: lost: 1 (crm m-3)'],
      ...['', 'Not run for publication yet:', '', '- `c`: what c shows'],
    ])
  })

  it('says when every limit was longer', () => {
    expect(fullTable([{ ...row('a'), patience: 3 }], [])[2]).toMatch(/\| 2 × some CPU, load 0\.3, limits × 3 \|$/)
    expect(fullTable([row('a')], [])[2]).toMatch(/load 0\.3 \|$/)
  })

  it('has the figures that a row has of its own', () => {
    expect(fullTable([row('a', { measured: ['30 minutes', 'p1: heap 80 MB'] })], runnable)).toEqual(
      expect.arrayContaining(['Measured besides:', '', '- `a`: 30 minutes; p1: heap 80 MB']),
    )
  })

  it('says when there is nothing', () => {
    expect(fullTable([], [])).toEqual(['Nothing has been published yet.'])
  })

  it('takes the place of what stood between the marks, and of nothing else', () => {
    const page = withTable(pageWith('of the run before'), ['| new |'])
    expect(page).toMatch(/^# Title\n<!-- begin.*-->\n\| new \|\n<!-- end.*-->\nmore\n$/)
    expect(withTable(page, ['| new |'])).toBe(page)
    expect(() => withTable('# Title', [])).toThrow(/the page has no/)
  })
})

const pageWith = (text: string): string =>
  `# Title\n<!-- begin: published by make chaos -->\n${text}\n<!-- end: published by make chaos -->\nmore\n`

describe('the table of the README', () => {
  const [first, second] = matrix[0]!.scenarios as readonly [string, string]
  const all = matrix[0]!.scenarios.map(name => row(name))
  const lineOf = (rows: readonly PublishedRow[]): string => matrixTable(rows)[2]!
  it.each([
    ['nothing was run', [], /\| – \| – \| – \| – \| – \| not run \|$/],
    [
      'some were run: sums, and the slowest',
      [row(first), row(second, { recoveryMs: 9_000 })],
      /\| 4 \| 2000 \| 0 \| 20 \| 9\.0 \| holds \(2 of \d+ run\) \|$/,
    ],
    ['one without recovery', [row(first, { recoveryMs: null })], /\| never \| holds \(1 of \d+ run\) \|$/],
    ['all were run', all, /\| holds \|$/],
    [
      'one fails',
      [...all.slice(1), row(first, { failures: ['lost: 1'], lost: 1 })],
      /\| 1 \| \d+ \| 6\.1 \| FAILS \|$/,
    ],
  ])('%s', (_, rows, line) => expect(lineOf(rows)).toMatch(line))
})

describe('what is published', () => {
  const names = scenarios.map(({ name }) => name)
  const read = (path: string): string => readFileSync(join(checkout, path), 'utf8')

  it('are rows of scenarios that exist, one each, with the verdict that their failures make', async () => {
    const rows = await readRows(checkout)
    expect(rows.map(({ name }) => name).filter(name => !names.includes(name))).toEqual([])
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
    for (const each of rows) expect(each).toMatchObject({ verdict: published(each, each).verdict })
  })

  it.each([
    [places.page, (rows: readonly PublishedRow[]) => fullTable(rows, scenarios)],
    [places.front, matrixTable],
  ])('%s agrees with results.json; otherwise: npm run --silent chaos-tables', async (place, table) => {
    expect(withTable(read(place), table(await readRows(checkout)))).toBe(read(place))
  })

  it('has each scenario in one row of the matrix, and none that does not exist', () => {
    expect(matrix.flatMap(each => each.scenarios).toSorted()).toEqual(names.toSorted())
  })
})
