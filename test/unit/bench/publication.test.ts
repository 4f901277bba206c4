import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { rowNames } from '../../bench/options.ts'
import {
  type Circumstances,
  type Entry,
  entriesOf,
  figureOf,
  neverPublished,
  replaced,
  type Value,
  verdictNow,
} from '../../bench/publication/entries.ts'
import { headlines } from '../../bench/publication/headlines.ts'
import { readEntries, shownFiles } from '../../bench/publication/publish.ts'
import { figuresUnder, frontText, pageText, withBlock } from '../../bench/publication/tables.ts'

const root = join(import.meta.dirname, '../../..')
const entries = await readEntries(root)
const shown = await shownFiles(root, entries)

describe('what is published', () => {
  it.each([...shown])('%s shows what results.json has (after a change: npm run --silent bench-tables)', (path, text) =>
    expect(readFileSync(join(root, path), 'utf8')).toBe(text),
  )

  it('is of rows that there are, each variant once', () => {
    const names = entries.map(({ row, variant }) => `${row}: ${variant}`)
    expect(entries.filter(({ row }) => !(rowNames as readonly string[]).includes(row))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })

  it('is judged by its bars', () => {
    const wrong = entries.flatMap(({ values }) => values.filter(value => value.verdict !== verdictNow(value)))
    expect(wrong).toEqual([])
  })

  it('has something for the short table of each row that is in it', () => {
    const rows = headlines.map(({ row }) => row).filter(row => entries.some(entry => entry.row === row))
    // One transport alone may have been published.
    const empty = rows.filter(row =>
      headlines.every(each => each.row !== row || figuresUnder(each, entries).length === 0),
    )
    expect(empty).toEqual([])
  })

  it('says which rows it lacks', () => {
    const page = shown.get('docs/performance/README.md') ?? ''
    for (const row of neverPublished(entries, rowNames))
      expect(page).toMatch(new RegExp(`Never published: .*\`${row}\``))
  })
})

const circumstances: Circumstances = { date: '2026-01-02', commit: 'abc', machine: '2 × Z80', load: 0.25, runs: 3 }
const entry = (
  row: string,
  variant: string,
  values: readonly Value[] = [],
  more: Partial<Circumstances> = {},
): Entry => ({
  ...{ row, variant, values, ...circumstances },
  ...more,
})

describe('entries', () => {
  it('a variant is an entry, with a verdict on each figure; what never came is no number', () => {
    const findings = [
      { subject: 'got', what: 'p99', unit: 'ms', measured: 40, must: { atMost: 38 } },
      { subject: 'undici', what: 'p99', unit: 'ms', measured: Number.POSITIVE_INFINITY, must: { atMost: 38 } },
      { subject: 'got', what: 'lost', measured: 0, must: { atMost: 0 } },
    ]
    expect(entriesOf({ row: 'live', figures: [], findings }, circumstances)).toEqual([
      entry('live', 'got', [
        { what: 'p99', unit: 'ms', measured: 40, must: { atMost: 38 }, verdict: 'FAILS' },
        { what: 'lost', measured: 0, must: { atMost: 0 }, verdict: 'holds' },
      ]),
      entry('live', 'undici', [{ what: 'p99', unit: 'ms', measured: null, must: { atMost: 38 }, verdict: 'FAILS' }]),
    ])
  })

  it.each<[string, Value, string]>([
    ['holds', { what: 'x', measured: 1, must: { atMost: 1 }, verdict: '' }, 'holds'],
    ['no number keeps to nothing', { what: 'x', measured: null, must: { atMost: 1 }, verdict: '' }, 'FAILS'],
  ])('judged anew: %s', (_, value, verdict) => expect(verdictNow(value)).toBe(verdict))

  it('one figure is found by row, variant and name', () => {
    const value: Value = { what: 'p99', measured: 1, verdict: '' }
    const all = [entry('live', 'got'), entry('live', 'undici', [value])]
    expect(figureOf(all, { row: 'live', variant: 'undici', what: 'p99' })).toBe(value)
    expect(figureOf(all, { row: 'live', variant: 'got', what: 'p99' })).toBeUndefined()
  })

  it('rows without any are told', () =>
    expect(neverPublished([entry('live', 'got')], ['live', 'idle', 'crash'])).toEqual(['idle', 'crash']))
})

describe('publishing', () => {
  const rows = ['delivery', 'live']
  const old = [entry('delivery', 'got'), entry('delivery', 'undici'), entry('live', 'got')]
  const later = { date: '2026-02-03' }
  const named = (all: readonly Entry[]) => all.map(({ row, variant, date }) => [row, variant, date])

  it.each<[string, readonly Entry[], boolean, readonly unknown[]]>([
    [
      'one transport replaces its own variants, in their place',
      [entry('delivery', 'got', [], later)],
      false,
      [
        ['delivery', 'got', '2026-02-03'],
        ['delivery', 'undici', '2026-01-02'],
        ['live', 'got', '2026-01-02'],
      ],
    ],
    [
      'all transports replace the row',
      [entry('delivery', 'fetch', [], later)],
      true,
      [
        ['delivery', 'fetch', '2026-02-03'],
        ['live', 'got', '2026-01-02'],
      ],
    ],
    [
      'a new variant comes to its row',
      [entry('delivery', 'fetch', [], later)],
      false,
      [
        ['delivery', 'got', '2026-01-02'],
        ['delivery', 'undici', '2026-01-02'],
        ['delivery', 'fetch', '2026-02-03'],
        ['live', 'got', '2026-01-02'],
      ],
    ],
    ['nothing measured changes nothing', [], true, named(old)],
  ])('%s', (_, fresh, isWhole, expected) => expect(named(replaced(old, fresh, { rows, isWhole }))).toEqual(expected))

  it('a row that there is no more goes', () =>
    expect(replaced(old, [], { rows: ['live'], isWhole: true })).toHaveLength(1))
})

describe('the tables', () => {
  const p99: Value = {
    ...{ what: 'p99', unit: 'ms', measured: 40.26, must: { atMost: 38 }, verdict: 'FAILS' as const },
    reference: { name: 'bare', measured: 59, unit: 'ms' },
  }
  const ratio: Value = { what: 'of bare', measured: 0.8, must: { atLeast: 0.75 }, verdict: 'holds' }
  const all = [entry('live', 'got', [p99, ratio]), entry('live', 'undici', [{ ...p99, measured: null }], { load: 2 })]

  it('of the page: each row with its circumstances, and what was never published', () =>
    expect(pageText(all, ['live', 'idle'])).toBe(`Never published: \`idle\`.

### live

2026-01-02, commit abc, 3 runs, load 0.25 at the start; 2 × Z80.

|  | measured |  | beside it | must | aim |  |
|---|---|---|---|---|---|---|
| got | p99 | 40.3 ms | bare: 59 ms | ≤ 38 |  | FAILS |
| got | of bare | 0.8 |  | ≥ 0.75 |  | holds |

2026-01-02, commit abc, 3 runs, load 2 at the start; 2 × Z80.

|  | measured |  | beside it | must | aim |  |
|---|---|---|---|---|---|---|
| undici | p99 | - ms | bare: 59 ms | ≤ 38 |  | FAILS |`))

  it('in short: the variants side by side, with the worst verdict', () =>
    expect(
      frontText(
        [
          entry('live', 'got', [ratio]),
          entry('live', 'undici', [{ ...ratio, measured: 0.7, verdict: 'FAILS' }]),
          entry('delivery', 'few', [{ what: 'peak memory', unit: 'MB', measured: 200, verdict: '' }]),
          entry('delivery', 'many', [
            { what: 'peak memory', unit: 'MB', measured: 270, must: { atMost: 300 }, verdict: 'holds' },
          ]),
        ],
        [
          { title: 'both', row: 'live', what: 'of bare' },
          { title: 'one', row: 'live', what: 'of bare', of: /got/ },
          { title: 'bars of their own', row: 'delivery', what: 'peak memory' },
          { title: 'none', row: 'idle', what: 'CPU' },
        ],
      ),
    ).toBe(`One run, 2026-01-02, commit abc; 2 × Z80.

|  | measured | must | aim |  |
|---|---|---|---|---|
| both | 0.8 / 0.7 | ≥ 0.75 |  | FAILS |
| one | 0.8 | ≥ 0.75 |  | holds |
| bars of their own | 200 / 270 MB | – / ≤ 300 |  | holds |
| none | not published |  |  |  |`))

  it.each<[string, readonly Entry[], string]>([
    ['nothing', [], 'Nothing is published.'],
    [
      'rows of several runs',
      [
        entry('live', 'got', [ratio]),
        entry('idle', 'got', [], { date: '2026-02-03', commit: 'def', machine: 'other' }),
      ],
      'Several runs, 2026-01-02 to 2026-02-03: 2 commits, 2 machines. Compare figures only within a row.',
    ],
    [
      'two runs of one commit on one machine',
      [entry('live', 'got', [ratio]), entry('idle', 'got', [], { load: 3 })],
      'Several runs, 2026-01-02: 1 commit, 1 machine. Compare figures only within a row.',
    ],
  ])('the short table says where its figures come from: %s', (_, published, text) =>
    expect(frontText(published, []).split('\n')[0]).toBe(text),
  )

  it('stand between their marks, and a page without them is refused', () => {
    const page = 'a\n<!-- x -->\nold\n<!-- end of x -->\nb\n'
    expect(withBlock(page, 'x', 'new')).toBe('a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n')
    expect(() => withBlock('a', 'x', 'new')).toThrow('<!-- x --> … <!-- end of x -->')
  })
})

it('the page of capacity tells no figure that is not worked out', () => {
  const page = readFileSync(join(root, 'docs/explanation/capacity.md'), 'utf8')
  const prose = page
    .replaceAll(/<!-- (.+) -->[\s\S]*?<!-- end of \1 -->/g, '')
    .replaceAll(/`[^`\n]*`|\]\([^)]*\)|^ {4}.*$/gm, '')
  expect(prose.match(/\d+/g)).toBeNull()
})
