import { describe, expect, it } from '@jest/globals'
import { table } from '../report.ts'
import type { Row } from '../scenario-run.ts'

const row: Row = {
  name: 'killed',
  seed: 7,
  shows: 'SIGKILL of any of three processes',
  brokers: 1,
  processes: 3,
  collectors: 0,
  perSecond: 500,
  faults: ['SIGKILL p1', 'SIGKILL p3'],
  calls: 1_010,
  seconds: 60,
  sent: 1_000,
  delivered: 999,
  waiting: 1,
  deadLettered: 0,
  lost: 0,
  duplicates: 10,
  duplicated: { bySender: 1, inProgress: 7, ours: 2 },
  orderedPairs: 900,
  reversed: 0,
  recoveryMs: 6_120,
  unreadyMs: 400,
  latestMs: 6_300,
  pauseMs: null,
  intake: null,
  failures: [],
}
const overHttp: Row = {
  ...row,
  name: 'collector-killed',
  intake: { refused: 0, broken: 12, answerMs: 340, acceptedMs: null, peakMb: 181 },
}
const failing: Row = { ...row, name: 'zombie', recoveryMs: null, failures: ['lost: 1 (crm m-3)'] }

describe('the chaos report for a terminal', () => {
  it('prints a line for each scenario and for each reason of a failure', () => {
    const [header, first, second, why] = table([row, failing])
    expect(header).toMatch(/^scenario +seed +faults +sent +delivered .* verdict$/)
    expect(first).toMatch(
      /^killed +7 +2 +1000 +999 +1 +0 +0 +10 +6\.1 +6\.3 +1 +7 +2 +900 +0 +0\.4 +– +– +– +– +– +– +holds$/,
    )
    expect(second).toMatch(/^zombie .* never +6\.3 .* FAILS$/)
    expect(why).toBe('FAILS  zombie: lost: 1 (crm m-3)')
  })

  it('prints no order for a scenario that does not judge it', () => {
    const line = /^killed +7 +2 +1000 +999 +1 +0 +0 +10 +6\.1 +6\.3 +1 +7 +2 +– +– /
    expect(table([{ ...row, orderedPairs: 0 }])[1]).toMatch(line)
  })

  it('prints intake figures for scenarios over HTTP', () => {
    expect(table([overHttp])[1]).toMatch(/ +0 +12 +0\.3 +never +181 +holds$/)
  })
})
