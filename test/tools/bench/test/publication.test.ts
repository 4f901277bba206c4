import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { capacityBlocks } from '../../../../deploy/tools/capacity/page-blocks.ts'
import { withBlock } from '../../../../deploy/tools/reference/markdown.ts'
import { checkout } from '../../../support/docs/pages.ts'
import { type Bar, bounds, type Finding } from '../bounds.ts'
import { pageText, summaryText } from '../publication/page-tables.ts'
import {
  type Circumstances,
  type Entry,
  entriesOf,
  figureOf,
  judged,
  neverPublished,
  replaced,
  type Value,
} from '../publication/published-entries.ts'
import { readmeText } from '../publication/readme-figures.ts'
import { rowTexts } from '../publication/row-texts.ts'
import { summaryRows } from '../publication/summary-rows.ts'

const circumstances: Circumstances = { date: '2026-01-02', commit: 'abc', machine: '2 × Z80', load: 0.25, runs: 3 }
const entry = (
  row: string,
  variant: string,
  values: readonly Value[] = [],
  more: Partial<Circumstances> = {},
): Entry => ({ ...{ row, variant, values, ...circumstances }, ...more })

const { entries: publishedEntries } = JSON.parse(
  readFileSync(join(checkout, 'docs/performance/results.json'), 'utf8'),
) as { readonly entries: readonly Entry[] }

/** Rows that ran again on later commits. docs/performance names these. */
const fromOtherRuns: readonly string[] = ['retries', 'operator']

const limitsOf = ({ must, aim }: Bar = {}): Bar => ({ ...(must && { must }), ...(aim && { aim }) })

describe('published bench entries', () => {
  it('makes an entry of each variant with a verdict on each figure, and null for an infinite figure', () => {
    const findings: readonly Finding[] = [
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

  it.each<[string, Value, Value['verdict']]>([
    ['holds', { what: 'p99', measured: 1, must: { atMost: 1 }, verdict: '' }, 'holds'],
    ['a missing number meets no limit', { what: 'p99', measured: null, must: { atMost: 1 }, verdict: '' }, 'FAILS'],
  ])('judges a published figure again: %s', (_, value, verdict) =>
    expect(judged([entry('live', 'got', [value])])).toEqual([entry('live', 'got', [{ ...value, verdict }])]),
  )

  it.each<[string, Value, Value]>([
    [
      'by the current bound of its name',
      {
        what: 'p99',
        measured: 40,
        judgedBy: 'liveP99',
        must: { atMost: 50 },
        aim: { atMost: 45 },
        verdict: 'aim reached',
      },
      { what: 'p99', measured: 40, judgedBy: 'liveP99', ...limitsOf(bounds.liveP99), verdict: 'FAILS' },
    ],
    [
      'by the current bound of a case',
      { what: 'peak memory', measured: 250, judgedBy: 'peakMemory.512', must: { atMost: 1 }, verdict: 'FAILS' },
      {
        what: 'peak memory',
        measured: 250,
        judgedBy: 'peakMemory.512',
        ...limitsOf(bounds.peakMemory[512]),
        verdict: 'holds',
      },
    ],
    [
      'by no bound, when its bound is gone',
      { what: 'p99', measured: 40, judgedBy: 'peakMemory.1', must: { atMost: 1 }, verdict: 'FAILS' },
      { what: 'p99', measured: 40, judgedBy: 'peakMemory.1', verdict: '' },
    ],
  ])('judges a published figure %s', (_, value, expected) =>
    expect(judged([entry('live', 'got', [value])])).toEqual([entry('live', 'got', [expected])]),
  )

  it('finds a figure by row, variant and name', () => {
    const value: Value = { what: 'p99', measured: 1, verdict: '' }
    const all = [entry('live', 'got'), entry('live', 'undici', [value])]
    expect(figureOf(all, { row: 'live', variant: 'undici', what: 'p99' })).toBe(value)
    expect(figureOf(all, { row: 'live', variant: 'got', what: 'p99' })).toBeUndefined()
  })

  it('names the rows that were never published', () =>
    expect(neverPublished([entry('live', 'got')], ['live', 'idle', 'crash'])).toEqual(['idle', 'crash']))
})

describe('publishing bench rows', () => {
  const rows = ['delivery', 'live']
  const old = [entry('delivery', 'got'), entry('delivery', 'undici'), entry('live', 'got')]
  const later = { date: '2026-02-03' }
  const named = (all: readonly Entry[]) => all.map(({ row, variant, date }) => `${row} ${variant} ${date}`)

  it.each<[string, readonly Entry[], boolean, readonly string[]]>([
    [
      'replaces only the variants of the transport that was measured',
      [entry('delivery', 'got', [], later)],
      false,
      ['delivery got 2026-02-03', 'delivery undici 2026-01-02', 'live got 2026-01-02'],
    ],
    [
      'replaces the whole row when all transports were measured',
      [entry('delivery', 'fetch', [], later)],
      true,
      ['delivery fetch 2026-02-03', 'live got 2026-01-02'],
    ],
    [
      'adds a new variant to its row',
      [entry('delivery', 'fetch', [], later)],
      false,
      ['delivery got 2026-01-02', 'delivery undici 2026-01-02', 'delivery fetch 2026-02-03', 'live got 2026-01-02'],
    ],
    ['changes nothing when nothing was measured', [], true, named(old)],
  ])('%s', (_, fresh, isWhole, expected) => expect(named(replaced(old, fresh, { rows, isWhole }))).toEqual(expected))

  it('drops a row that no longer exists', () =>
    expect(replaced(old, [], { rows: ['live'], isWhole: true })).toHaveLength(1))
})

describe('the bench tables', () => {
  const p99: Value = {
    ...{ what: 'p99', unit: 'ms', measured: 40.26, must: { atMost: 38 }, verdict: 'FAILS' as const },
    reference: { name: 'reference loop with got', measured: 59, unit: 'ms' },
  }
  const ratio: Value = {
    ...{ what: 'deliveries per CPU second, relative to the reference loop with got', measured: 0.8 },
    ...{ must: { atLeast: 0.75 }, verdict: 'holds' },
  }
  const all = [entry('live', 'got', [p99, ratio]), entry('live', 'undici', [{ ...p99, measured: null }], { load: 2 })]

  it('lists each row with its circumstances, and the rows that were never published', () =>
    expect(pageText(all, ['live', 'idle'])).toBe(`Never published: \`idle\`.

### live

${rowTexts.live}

Measured once. Run of 2026-01-02, commit abc; load average 0.25 at the start; 2 × Z80.

| program and case | figure | measured | compared with | must | aim | verdict |
|---|---|---|---|---|---|---|
| got | p99 | 40.3 ms | reference loop with got: 59 ms | ≤ 38 |  | FAILS |
| got | deliveries per CPU second, relative to the reference loop with got | 0.8 |  | ≥ 0.75 |  | holds |

Measured once. Run of 2026-01-02, commit abc; load average 2 at the start; 2 × Z80.

| program and case | figure | measured | compared with | must | aim | verdict |
|---|---|---|---|---|---|---|
| undici | p99 | - ms | reference loop with got: 59 ms | ≤ 38 |  | FAILS |`))

  it('names the circumstances once if all results come from one run', () =>
    expect(pageText([entry('live', 'got', [ratio]), entry('delivery', 'got', [ratio])], ['delivery', 'live'])).toMatch(
      /^Run of 2026-01-02, commit abc; load average 0\.25 at the start; 2 × Z80\.\n\n### delivery\n\n.*\n\nMeasured 3 times\.\n/,
    ))

  it('has a sentence, not lines, for figures that must be 0 and are 0 in all variants', () => {
    const zero = (measured: number): Value => ({ what: 'lost', measured, must: { atMost: 0 }, verdict: '' })
    const textOf = (lost: number): string =>
      pageText([entry('live', 'got', [ratio, zero(0)]), entry('live', 'undici', [zero(lost)])], ['live'])
    expect(textOf(0)).toContain('\n\nAs required, 0 in all cases: lost.')
    expect(textOf(0)).not.toContain('| lost |')
    expect(textOf(1)).toContain('| got | lost | 0 |')
    expect(textOf(1)).toContain('| undici | lost | 1 |')
    expect(textOf(1)).not.toContain('As required')
  })

  it('has a column per figure for the requests of the operator API', () => {
    const p95: Value = { what: 'p95', unit: 'ms', measured: 3, must: { atMost: 10 }, verdict: 'holds' }
    const p50: Value = { what: 'p50', unit: 'ms', measured: 2, verdict: '' }
    expect(
      pageText(
        [entry('operator', 'request: status', [p50, p95]), entry('operator', 'request: a', [p50])],
        ['operator'],
      ),
    ).toContain(
      `| request | p50 | p95 (must be ≤ 10) | verdict |
|---|---|---|---|
| status | 2 ms | 3 ms | holds |
| a | 2 ms | – |  |`,
    )
  })

  it('says which measurements were not repeated', () => {
    const backlog = (records: string): Entry => entry('backlog', `hookline undici, backlog of ${records}`, [ratio])
    const counted = [
      ...pageText([entry('live', 'got'), backlog('100,000'), backlog('1,000,000')], ['live', 'backlog']).matchAll(
        /^Measured (once|3 times)\./gm,
      ),
    ].map(([, runs]) => runs)
    expect(counted).toEqual(['once', '3 times', 'once'])
  })

  it('shows the names of variants, figures, compared figures and units as they are published', () => {
    const reference = { name: 'bare undici', measured: 2, unit: '/ s' }
    const value: Value = { what: 'p99', unit: '/ CPU s', measured: 35.5, verdict: '', reference }
    expect(pageText([entry('live', 'bare undici, 1000/s, 20 ms', [value])], ['live'])).toContain(
      '| bare undici, 1000/s, 20 ms | p99 | 35.5 / CPU s | bare undici: 2 / s |',
    )
  })

  it('finds all figures of the summary and of README.md in the published results', () => {
    expect(summaryText(publishedEntries, summaryRows)).not.toContain('not published')
    expect(readmeText(publishedEntries)).not.toContain('not measured yet')
  })

  it('publishes a figure without a number only where it misses a bound', () =>
    expect(
      publishedEntries.flatMap(({ row, variant, values }) =>
        values
          .filter(({ measured, verdict }) => measured === null && verdict !== 'FAILS')
          .map(({ what }) => [row, variant, what]),
      ),
    ).toEqual([]))

  it('can compute all tables of the capacity page', () =>
    expect([...capacityBlocks(publishedEntries).values()].join('\n')).not.toContain('cannot be computed'))

  it('publishes figures of one machine, and of one commit and one day except for the rows of other runs', () => {
    const ofLongRun = publishedEntries.filter(({ row }) => !fromOtherRuns.includes(row))
    expect(new Set(publishedEntries.map(({ machine }) => machine)).size).toBe(1)
    expect(new Set(ofLongRun.map(({ commit, date }) => `${commit} ${date}`)).size).toBe(1)
  })

  it('names exactly the rows that miss a bound in the section about these bounds', () => {
    const page = readFileSync(join(checkout, 'docs/performance/README.md'), 'utf8')
    const [, section = ''] = page.match(/^## Bounds that are not met\n(.*?)^## /ms) ?? []
    const missed = judged(publishedEntries).filter(({ values }) => values.some(({ verdict }) => verdict === 'FAILS'))
    const linked = [...section.matchAll(/\]\(#([\w-]+)\)/g)].map(([, row]) => row).filter(row => row !== 'summary')
    expect(new Set(linked)).toEqual(new Set(missed.map(({ row }) => row)))
  })

  it('shows variants side by side with the worst verdict in the short table', () => {
    const what = 'deliveries per CPU second, relative to the reference loop with got'
    expect(
      summaryText(
        [
          entry('live', 'got', [ratio]),
          entry('live', 'undici', [{ ...ratio, measured: 0.7, verdict: 'FAILS' }]),
          entry('delivery', 'few', [{ what: 'peak memory', unit: 'MB', measured: 200, verdict: '' }]),
          entry('delivery', 'many', [
            { what: 'peak memory', unit: 'MB', measured: 270, must: { atMost: 300 }, verdict: 'holds' },
          ]),
        ],
        [
          { title: 'both', row: 'live', what },
          { title: 'one', row: 'live', what, of: /got/ },
          { title: 'bars of their own', row: 'delivery', what: 'peak memory' },
          { title: 'none', row: 'idle', what: 'average CPU use' },
        ],
      ),
    ).toBe(`One run, 2026-01-02, commit abc; 2 × Z80.

| figure | measured | must | aim | verdict |
|---|---|---|---|---|
| both | 0.8 / 0.7 | ≥ 0.75 |  | FAILS |
| one | 0.8 | ≥ 0.75 |  | holds |
| bars of their own | 200 / 270 MB | – / ≤ 300 |  | holds |
| none | not published |  |  |  |`)
  })

  it.each<[string, readonly Entry[], string]>([
    ['nothing', [], 'Nothing is published.'],
    [
      'rows of several runs',
      [
        entry('live', 'got', [ratio]),
        entry('idle', 'got', [], { date: '2026-02-03', commit: 'def', machine: 'other' }),
      ],
      'Several runs, 2026-01-02 to 2026-02-03: 2 commits, 2 machines. Compare figures only within a line.',
    ],
    [
      'two runs of one commit on one machine',
      [entry('live', 'got', [ratio]), entry('idle', 'got', [], { load: 3 })],
      'Several runs, 2026-01-02: 1 commit, 1 machine. Compare figures only within a line.',
    ],
  ])('says in the short table from which runs its figures come: %s', (_, published, text) =>
    expect(summaryText(published, []).split('\n')[0]).toBe(text),
  )

  it('lists the figures of README.md, each with a link to its table, its date, commit and machine', () => {
    const values: readonly Value[] = [{ what: 'deliveries', measured: 21_253.4, unit: 'per CPU second', verdict: '' }]
    const machine = '2 × Z80; Node 24; forwarder on core 1'
    const https = entry('https', 'hookline undici, responses after 20 ms, 1,000 hosts', values, { machine })
    expect(readmeText([https]).split('\n')).toEqual([
      '- **21,253 deliveries per CPU second** over HTTPS to 1,000 hosts that respond after 20 ms (one process, HTTP client undici) ([performance](docs/performance/README.md#https), 2026-01-02, commit abc, 2 × Z80)',
      expect.stringMatching(/^- not measured yet: p99 latency /),
      expect.stringMatching(/^- not measured yet: of the events /),
    ])
  })

  it('replaces the text between two marks, and refuses a page without them', () => {
    const page = 'a\n<!-- x -->\nold\n<!-- end of x -->\nb\n'
    expect(withBlock(page, 'x', 'new')).toBe('a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n')
    expect(() => withBlock('a', 'x', 'new')).toThrow('<!-- x --> … <!-- end of x -->')
  })
})
