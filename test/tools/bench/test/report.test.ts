import { describe, expect, it } from '@jest/globals'
import { failuresOf, type NamedOutcome, reportOf, shown } from '../report.ts'

describe('the bench report', () => {
  const outcome: NamedOutcome = {
    row: 'live',
    figures: [
      { forwarder: 'reference loop with undici', 'p99 ms': 31.416 },
      { forwarder: 'hookline got', 'p99 ms': 40.2 },
    ],
    findings: [
      { subject: 'hookline got', what: 'p99', unit: 'ms', measured: 40.2, must: { atMost: 38 }, aim: { atMost: 32 } },
      { subject: 'hookline got', what: 'lost', measured: 0, must: { atMost: 0 } },
    ],
  }

  it('shows each figure next to its limits', () => {
    expect(reportOf([outcome])).toBe(`## live

| forwarder                  | p99 ms |
|----------------------------|--------|
| reference loop with undici | 31.4   |
| hookline got               | 40.2   |

| program and case | figure | measured | must | aim  | verdict |
|------------------|--------|----------|------|------|---------|
| hookline got     | p99    | 40.2 ms  | ≤ 38 | ≤ 32 | FAILS   |
| hookline got     | lost   | 0        | ≤ 0  |      | holds   |`)
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
