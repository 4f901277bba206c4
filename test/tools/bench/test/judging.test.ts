import { describe, expect, it } from '@jest/globals'
import { type Bar, type Verdict, verdictOf } from '../bounds.ts'
import { asEnvironment, filledIn, parsePeer } from '../forwarders/peer.ts'
import { parseOptions, rowNames } from '../options.ts'
import { failuresOf, reportOf, shown } from '../report.ts'

describe('the verdict on a finding', () => {
  const atMost: Bar = { must: { atMost: 38 }, aim: { atMost: 32 } }
  const atLeast: Bar = { must: { atLeast: 0.9 } }
  it.each<[string, number, Bar, Verdict]>([
    ['on the aim', 32, atMost, 'aim reached'],
    ['between aim and must', 38, atMost, 'holds'],
    ['beyond the must', 38.1, atMost, 'FAILS'],
    ['no number', Number.NaN, atMost, 'FAILS'],
    ['never', Number.POSITIVE_INFINITY, atMost, 'FAILS'],
    ['a ratio with a division by zero', Number.POSITIVE_INFINITY, atLeast, 'FAILS'],
    ['an aim with a division by zero', Number.POSITIVE_INFINITY, { aim: { atLeast: 1 } }, 'short of the aim'],
    ['on a lower limit', 0.9, atLeast, 'holds'],
    ['below a lower limit', 0.89, atLeast, 'FAILS'],
    ['a missed aim without a must', 1.2, { aim: { atMost: 1.1 } }, 'short of the aim'],
    ['a reached aim without a must', 1.1, { aim: { atMost: 1.1 } }, 'aim reached'],
    ['no limit', 5, {}, ''],
  ])('%s', (_, measured, bar, verdict) =>
    expect(verdictOf({ subject: 'x', what: 'y', measured, ...bar })).toBe(verdict),
  )
})

describe('the bench report', () => {
  const outcome = {
    row: 'live',
    figures: [
      { forwarder: 'bare undici', 'p99 ms': 31.416 },
      { forwarder: 'hookline got', 'p99 ms': 40.2 },
    ],
    findings: [
      { subject: 'hookline got', what: 'p99', unit: 'ms', measured: 40.2, must: { atMost: 38 }, aim: { atMost: 32 } },
      { subject: 'hookline got', what: 'lost', measured: 0, must: { atMost: 0 } },
    ],
  }

  it('shows each figure next to its bar', () => {
    expect(reportOf([outcome])).toBe(`## live

| forwarder    | p99 ms |
|--------------|--------|
| bare undici  | 31.4   |
| hookline got | 40.2   |

|              | measured |      | must | aim  |       |
|--------------|----------|------|------|------|-------|
| hookline got | p99, ms  | 40.2 | ≤ 38 | ≤ 32 | FAILS |
| hookline got | lost     | 0    | ≤ 0  |      | holds |`)
  })

  it('names the figures that fail', () => expect(failuresOf([outcome]).map(({ what }) => what)).toEqual(['p99']))

  it.each([
    [0, '0'],
    [12_345.6, '12,346'],
    [0.012_345, '0.0123'],
    [3, '3'],
    [99.95, '100'],
    [Number.NaN, '-'],
    [Number.POSITIVE_INFINITY, 'never'],
  ])('%p is shown as %s', (value, text) => expect(shown(value)).toBe(text))
})

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
      { PUBLISH: '1', RUNS: '2' },
      { publishes: true, runs: 2 },
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
    [{ ROWS: 'speed' }, 'ROWS must be one of delivery, peers, memory,'],
    [{ ROWS: 'live,peers' }, "ROWS: peers needs other programs to compare with: PEER='name=command …'"],
    [{ TRANSPORTS: 'fetch' }, "TRANSPORTS must be one of got, undici, not 'fetch'"],
    [{ BACKLOG: '5' }, "BACKLOG must be one of 10000, 100000, 1000000, 10000000, not '5'"],
    [{ GATES: 'no' }, "GATES must be one of on, off, not 'no'"],
    [{ PROFILE: 'yes' }, "PROFILE must be one of 0, 1, not 'yes'"],
    [{ PUBLISH: '1', SCALE: '0.5' }, 'PUBLISH needs full runs'],
    [{ PUBLISH: '1', PROFILE: '1' }, 'PUBLISH needs full runs'],
    [{ RUNS: '0' }, 'RUNS must be a number above 0'],
    [{ RUNS: '1.5' }, 'RUNS must be a whole number'],
    [{ SCALE: 'half' }, 'SCALE must be a number above 0'],
    [{ PEER: 'connect run' }, 'PEER must be name=command'],
    [{ PEER: 'x=run {tpoic}' }, 'PEER x: unknown placeholder {tpoic}, known are {brokers}'],
  ])('%j is refused', (env, message) => expect(() => parseOptions(env, known)).toThrow(message))
})

describe("a peer's command", () => {
  const values = { brokers: 'a:1,b:2', topic: 't.events', group: 'g', url: "http://h/it's", inFlight: '256' }

  it('passes each value to a peer as one shell word, and keeps JSON and shell variables', () => {
    const command = `run --brokers={brokers} --set '{"topic":1}' $\{HOME} {url} {inFlight}`
    expect(filledIn(command, values)).toBe(
      `run --brokers='a:1,b:2' --set '{"topic":1}' $\{HOME} 'http://h/it'\\''s' '256'`,
    )
  })

  it('passes the same values to a peer in its environment', () => {
    expect(asEnvironment(values)).toMatchObject({ BENCH_BROKERS: 'a:1,b:2', BENCH_IN_FLIGHT: '256' })
  })

  it('accepts a peer name with a dash and a dot', () => {
    expect(parsePeer('benthos-4.60=peer run')).toEqual({ name: 'benthos-4.60', command: 'peer run' })
  })
})
