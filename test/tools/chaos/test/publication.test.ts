import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { checkout } from '../../../support/docs/pages.ts'
import { matrix } from '../faults-and-guarantees-table.ts'
import { fullText, matrixTable, merged, type PublishedRow, published } from '../publication.ts'
import { readmeText, withoutLoad } from '../readme-figures.ts'
import type { Row } from '../scenario-run.ts'
import { scenarios } from '../scenarios.ts'

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
        unreadyMs: 400,
        pauseMs: null,
      },
      ...{ intake: null, failures: [], duplicated: { bySender: 1, inProgress: 7, ours: 2 } },
      ...more,
    },
    { patience: 1, date: '2026-11-21', commit: '0123abcd', machine: '2 × some CPU, load 0.3', node: 'Node v24' },
  )
const runnable = ['a', 'b', 'c'].map(name => ({ name, shows: `what ${name} shows` }))
const named = (rows: readonly PublishedRow[]): readonly string[] => rows.map(({ name, seed }) => `${name} ${seed}`)

describe('publishing chaos rows', () => {
  it.each([
    ['publishes the first rows', [], [row('b')], ['b 7']],
    ['replaces only the row of the same name', [row('a'), row('b')], [row('b', { seed: 8 })], ['a 7', 'b 8']],
    ['orders rows like the scenarios', [row('c')], [row('b'), row('a')], ['a 7', 'b 7', 'c 7']],
    ['drops a row whose scenario no longer exists', [row('gone'), row('a')], [], ['a 7']],
  ])('%s', (_, before, fresh, after) => expect(named(merged(before, fresh, runnable))).toEqual(after))

  it('gives a row the verdict of its failures', () => {
    expect(row('a').verdict).toBe('holds')
    expect(row('a', { failures: ['lost: 1'] }).verdict).toBe('FAILS')
  })
})

describe('the table of chaos rows', () => {
  it('lists each row with its circumstances, the failures and the scenarios that were not run', () => {
    const failing = row('b', { failures: ['lost: 1 (crm m-3)'], lost: 1 })
    expect(fullText([row('a'), failing], runnable).split('\n')).toEqual([
      ...['### Scenarios', '', '| scenario | what happens |', '|---|---|'],
      ...['| `a` | what a shows |', '| `b` | what b shows |', ''],
      ...['### Deliveries', '', '| column | meaning |', '|---|---|'],
      expect.stringMatching(/^\| faults \| /),
      ...Array(9).fill(expect.stringMatching(/^\| .* \| .* \|$/)),
      '',
      expect.stringMatching(/^\| scenario \| faults \| sent .* verdict \|$/),
      expect.stringMatching(/^(\|---)+\|$/),
      '| `a` | 2 | 1000 | 1000 | 0 | 0 | 0 | 10 | 6.1 | 6.3 | holds |',
      '| `b` | 2 | 1000 | 1000 | 0 | 0 | 1 | 10 | 6.1 | 6.3 | FAILS |',
      ...['', '### Duplicates, order and pauses', '', '| column | meaning |', '|---|---|'],
      ...Array(7).fill(expect.stringMatching(/^\| .* \| .* \|$/)),
      ...[
        '',
        '| scenario | by sender | in progress | other cause | checked pairs | reversed | not ready s | pause s |',
      ],
      ...['|---|---|---|---|---|---|---|---|', '| `a` | 1 | 7 | 2 | 900 | 0 | 0.4 | – |'],
      '| `b` | 1 | 7 | 2 | 900 | 0 | 0.4 | – |',
      ...['', '### Collectors', '', '| column | meaning |', '|---|---|'],
      ...Array(5).fill(expect.stringMatching(/^\| .* \| .* \|$/)),
      ...['', '| scenario | refused | unanswered | slowest response s | accepts again s | memory MB |'],
      ...['|---|---|---|---|---|---|', ''],
      ...['### Runs', '', '| scenario | seed | day | commit | machine |', '|---|---|---|---|---|'],
      '| `a` | 7 | 2026-11-21 | 0123abcd | 2 × some CPU, load 0.3 |',
      '| `b` | 7 | 2026-11-21 | 0123abcd | 2 × some CPU, load 0.3 |',
      ...['', 'Failures:', '', '- `b`: lost: 1 (crm m-3)'],
      ...['', 'Not published yet:', '', '- `c`: what c shows'],
    ])
  })

  it('marks a row that ran with longer limits', () => {
    expect(fullText([{ ...row('a'), patience: 3 }], [])).toMatch(/\| 2 × some CPU, load 0\.3, limits × 3 \|$/)
    expect(fullText([row('a')], [])).toMatch(/load 0\.3 \|$/)
  })

  it('lists the figures that only one row measures', () => {
    const measured = ['30 minutes', 'p1: heap 80 MB']
    expect(fullText([row('a', { measured })], runnable)).toContain(
      '### Additional figures\n\n- `a`\n  - 30 minutes\n  - p1: heap 80 MB',
    )
  })

  it('says that nothing has been published', () => {
    expect(fullText([], [])).toBe('Nothing has been published yet.')
  })
})

describe('the summary table of chaos rows', () => {
  const [first, second] = matrix[0]!.scenarios as readonly [string, string]
  const all = matrix[0]!.scenarios.map(name => row(name))
  const lineOf = (rows: readonly PublishedRow[]): string => matrixTable(rows).split('\n')[2]!
  it.each([
    ['shows a row without a run', [], /\| – \| – \| – \| – \| – \| not run \|$/],
    [
      'sums the scenarios that were run',
      [row(first), row(second, { recoveryMs: 9_000 })],
      /\| 4 \| 2000 \| 0 \| 20 \| 9\.0 \| holds \(2 of \d+ run\) \|$/,
    ],
    [
      'shows a scenario that never recovered',
      [row(first, { recoveryMs: null })],
      /\| never \| holds \(1 of \d+ run\) \|$/,
    ],
    ['shows a row with all scenarios run', all, /\| holds \|$/],
    [
      'fails a row with a failing scenario',
      [...all.slice(1), row(first, { failures: ['lost: 1'], lost: 1 })],
      /\| 1 \| \d+ \| 6\.1 \| FAILS \|$/,
    ],
  ])('%s', (_, rows, line) => expect(lineOf(rows)).toMatch(line))

  it('takes the duration of the soak from its result', () => {
    const measured = ['30 minutes at 804 events a second, 70 % of 1148']
    expect(matrixTable([row('soak', { measured })])).toContain('| 30 minutes of 70 % of the measured capacity')
    expect(matrixTable([])).toContain('| MINUTES of 70 % of the measured capacity')
  })
})

describe('the chaos figures of README.md', () => {
  const end = '([reliability](docs/reliability/README.md), 2026-11-21, commit 0123abcd, 2 × some CPU)'

  it('shows the losses of all scenarios without `retention`, and the slowest recovery from SIGKILL', () => {
    const rows = [row('killed'), row('killed-50', { recoveryMs: 9_317 }), row('retention', { lost: 271 }), row('soak')]
    expect(readmeText(rows).split('\n')).toEqual([
      `- **0 of 3,000** deliveries of acknowledged messages lost in 3 scenarios with 6 injected faults, not counting the scenario in which Kafka deletes records before Hookline reads them ${end}`,
      `- **9.3 s at most** until every affected partition delivers again after processes are killed with SIGKILL under load ${end}`,
    ])
  })

  it('names every commit of its rows', () => {
    const rows = [row('killed'), { ...row('soak'), commit: 'def', machine: '2 × some CPU, load 4.0' }]
    expect(readmeText(rows).split('\n')[0]).toContain(', 2026-11-21, commits 0123abcd and def, 2 × some CPU)')
  })

  it('says when a scenario never recovered', () =>
    expect(readmeText([row('killed', { recoveryMs: null })])).toContain('- **never** until'))

  it('says that nothing has been measured', () =>
    expect(readmeText([])).toMatch(/^- not measured yet: .*\n- not measured yet: /))
})

// The page names the commit of the soak.
it('publishes rows of one machine, and of one commit except for the soak', () => {
  const text = readFileSync(join(checkout, 'docs/reliability/results.json'), 'utf8')
  const rows = JSON.parse(text) as readonly PublishedRow[]
  expect(new Set(rows.map(({ machine }) => withoutLoad(machine))).size).toBe(1)
  const ofOneRun = rows.filter(({ name }) => name !== 'soak')
  expect(new Set(ofOneRun.map(({ commit }) => commit)).size).toBe(1)
  expect(new Set(rows.map(({ node }) => node)).size).toBe(1)
})

it('puts each scenario in exactly one row of the chaos matrix', () => {
  expect(matrix.flatMap(each => each.scenarios).toSorted()).toEqual(scenarios.map(({ name }) => name).toSorted())
})
