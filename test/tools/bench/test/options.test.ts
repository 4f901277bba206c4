import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { checkout } from '../../../support/docs/pages.ts'
import { parseOptions, repeatedBacklog, rowNames, rowsWithoutRepetition } from '../options.ts'

describe('the variables of make bench', () => {
  const known = ['got', 'undici']
  const full = {
    rows: rowNames.filter(name => name !== 'peers'),
    transports: known,
    peers: [],
    runs: 3,
    scale: 1,
    backlog: 1_000_000,
    gates: true,
    profile: false,
    publishes: false,
    hasAllTransports: true,
  }

  it('ignore RUNS for the rows and backlogs that the page names', () => {
    const page = readFileSync(join(checkout, 'docs/performance/README.md'), 'utf8')
    const once = /The rows (.*?) are measured only once\. .* backlogs above ([\d,]+) records/
    const [, rows = '', records] = page.match(once) ?? []
    expect(rows.split(/, | and /)).toEqual(rowsWithoutRepetition)
    expect(records).toBe(repeatedBacklog.toLocaleString('en-US'))
  })

  it('runs every row that needs no other program, judged and not published, by default', () =>
    expect(parseOptions({}, known)).toEqual(full))

  it.each([
    [{ ROWS: 'live, delivery' }, { rows: ['live', 'delivery'] }],
    [{ TRANSPORTS: 'undici' }, { transports: ['undici'], hasAllTransports: false }],
    [{ GATES: 'off' }, { gates: false }],
    [{ BACKLOG: '10000' }, { backlog: 10_000 }],
    [{ SCALE: '0.1' }, { scale: 0.1 }],
    [{ RUNS: '1' }, { runs: 1 }],
    [{ RUNS: '5' }, { runs: 5 }],
    [
      { PUBLISH: '1', RUNS: '2', ROWS: 'live' },
      { publishes: true, runs: 2, rows: ['live'] },
    ],
    [{ PROFILE: '1' }, { profile: true, gates: false, runs: 1 }],
    [
      { PEER: 'a=run {topic}\nb=go --to={url}' },
      {
        rows: rowNames,
        peers: [
          { name: 'a', command: 'run {topic}' },
          { name: 'b', command: 'go --to={url}' },
        ],
      },
    ],
  ])('%j', (env, change) => expect(parseOptions(env, known)).toEqual({ ...full, ...change }))

  it.each([
    [{ ROWS: 'speed' }, 'ROWS must be one of delivery, peers, https, https-latency,'],
    [{ ROWS: 'live,peers' }, "ROWS: peers needs other programs to compare with: PEER='name=command …'"],
    [{ TRANSPORTS: 'fetch' }, "TRANSPORTS must be one of got, undici, not 'fetch'"],
    [{ BACKLOG: '5' }, "BACKLOG must be one of 10000, 100000, 1000000, 10000000, not '5'"],
    [{ GATES: 'no' }, "GATES must be one of on, off, not 'no'"],
    [{ PROFILE: 'yes' }, "PROFILE must be one of 0, 1, not 'yes'"],
    [{ PUBLISH: '1', SCALE: '0.5' }, 'PUBLISH needs full runs'],
    [{ PUBLISH: '1', PROFILE: '1' }, 'PUBLISH needs full runs'],
    [{ PUBLISH: '1' }, 'PUBLISH of all rows needs PEER, or the old row peers would stay'],
    [{ RUNS: '0' }, 'RUNS must be a number above 0'],
    [{ RUNS: '1.5' }, 'RUNS must be a whole number'],
    [{ SCALE: 'half' }, 'SCALE must be a number above 0'],
    [{ PEER: 'connect run' }, 'PEER must be name=command'],
    [{ PEER: 'x=run {tpoic}' }, 'PEER x: unknown placeholder {tpoic}, known are {brokers}'],
  ])('%j is refused', (env, message) => expect(() => parseOptions(env, known)).toThrow(message))
})
