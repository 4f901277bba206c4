import { describe, expect, it } from '@jest/globals'
import { type LedgerParts, type LedgerRow, ledgerRows } from '../../../../src/core/ledger/ledger-balance-rows.ts'
import { LedgerCounts, type LedgerField } from '../../../../src/core/ledger/ledger-counts.ts'
import { LedgerSummary } from '../../../../src/core/ledger/ledger-summary.ts'

type Cell = Partial<Record<LedgerField, number>>
type Waiting = Partial<Record<'moved' | 'replayed', number>>

function countsOf(cell: Cell, hour = 7, destination = 'crm'): LedgerCounts {
  const counts = new LedgerCounts()
  for (const [field, count] of Object.entries(cell)) counts.add(destination, hour, field as LedgerField, count)
  return counts
}
const parts = (cell: Cell, waiting: Waiting = {}): LedgerParts => ({
  ...{ counts: countsOf(cell), waiting: countsOf(waiting), isComplete: true, exactSince: 0 },
})
const all = { since: 0, until: 100 }
const summaryOf = (rows: Iterable<LedgerRow>, maxRows = 100): LedgerSummary => {
  const summary = new LedgerSummary(maxRows)
  for (const row of rows) summary.add(row)
  return summary
}

describe('a row', () => {
  it.each<readonly [string, Cell, Waiting, Record<string, number>]>([
    ['delivered at the first attempt', { admitted: 3, delivered: 3 }, {}, { admitted: 3, delivered: 3, difference: 0 }],
    ['waiting in a retry topic', { admitted: 2, delivered: 1, moved: 1 }, { moved: 1 }, { waiting: 1, difference: 0 }],
    [
      'moved twice, then dead-lettered',
      { admitted: 1, moved: 2, taken: 2, dead_lettered: 1 },
      {},
      { deadLettered: 1, waiting: 0, difference: 0 },
    ],
    [
      'a copy that a killed process wrote too',
      { admitted: 1, moved: 1, taken: 2, delivered: 2 },
      {},
      { admitted: 1, repeated: 1, delivered: 2, difference: 0 },
    ],
    ['a repeated copy that waits', { admitted: 1, moved: 1 }, { moved: 2 }, { repeated: 1, waiting: 2, difference: 0 }],
    [
      'replayed by an operator',
      { admitted: 1, dead_lettered: 1, taken: 1, replayed: 1, delivered: 1 },
      { replayed: 1 },
      { replayed: 2, waiting: 1, repeated: 0, difference: 0 },
    ],
    ['lost in a retry topic', { admitted: 2, moved: 2 }, { moved: 1 }, { repeated: 0, waiting: 1, difference: 1 }],
    ['released without a result', { admitted: 2, delivered: 1 }, {}, { difference: 1 }],
    [
      'without a destination, and routed later',
      { admitted: 1, moved: 1, taken: 1, routed: 1 },
      {},
      { admitted: 0, difference: 0 },
    ],
    [
      'without a destination, moved twice by a killed process, and both copies routed later',
      { admitted: 1, moved: 1, taken: 2, routed: 2 },
      {},
      { admitted: 0, replayed: 0, repeated: 0, difference: 0 },
    ],
    [
      'without a destination, dead-lettered, replayed, and routed later',
      { admitted: 1, dead_lettered: 1, taken: 2, replayed: 1, moved: 1, routed: 1 },
      {},
      { admitted: 0, replayed: 1, repeated: 0, deadLettered: 1, difference: 0 },
    ],
    [
      'without a destination, replayed and moved twice, all routed later',
      { taken: 3, replayed: 1, moved: 1, routed: 2 },
      {},
      { admitted: 0, replayed: 0, repeated: 0, difference: 0 },
    ],
  ])('%s', (_, cell, waiting, expected) => {
    expect([...ledgerRows(parts(cell, waiting), all)]).toEqual([expect.objectContaining(expected)])
  })

  it.each<readonly [string, Partial<LedgerParts>]>([
    ['when not everything was read', { isComplete: false }],
    ['before the first complete hour', { exactSince: 8 }],
  ])('has no difference %s', (_, override) => {
    const rows = [...ledgerRows({ ...parts({ admitted: 1 }), ...override }, all)]
    expect(rows).toEqual([expect.not.objectContaining({ difference: expect.anything() })])
    expect(summaryOf(rows).totals).not.toHaveProperty('difference')
  })
})

describe('rows', () => {
  const counts = countsOf({ admitted: 1, delivered: 1 }, 8, 'crm')
  counts.merge(countsOf({ admitted: 2 }, 7, 'web'))
  counts.merge(countsOf({ admitted: 4, delivered: 5 }, 7, 'crm'))
  const given = { ...parts({}), counts }

  it('are in the order of hours and destinations', () => {
    const order = summaryOf(ledgerRows(given, all)).rows.map(({ hour, destination }) => `${hour} ${destination}`)
    expect(order).toEqual([
      '1970-01-01T07:00:00.000Z crm',
      '1970-01-01T07:00:00.000Z web',
      '1970-01-01T08:00:00.000Z crm',
    ])
  })

  it('are filtered by hour and destination', () => {
    expect([...ledgerRows(given, { since: 7, until: 8, destination: 'crm' })]).toHaveLength(1)
    expect([...ledgerRows(given, { since: 9, until: 10 })]).toEqual([])
  })

  it('have totals, in which differences do not cancel out', () => {
    expect(summaryOf(ledgerRows(given, all)).totals).toMatchObject({ admitted: 7, delivered: 6, difference: 3 })
  })

  it('include destinations that only wait', () => {
    const waiting = countsOf({ moved: 1 }, 9, 'erp')
    expect([...ledgerRows({ ...given, waiting }, { ...all, destination: 'erp' })]).toMatchObject([{ waiting: 1 }])
  })
})

describe('when there are more rows than the maximum', () => {
  const counts = new LedgerCounts()
  for (let hour = 0; hour < 24; hour++)
    for (let index = 0; index < 20; index++) {
      counts.add(`id-${index}`, hour, 'admitted', 2)
      counts.add(`id-${index}`, hour, 'delivered', hour === 3 && index === 7 ? 1 : 2)
    }
  const summary = summaryOf(ledgerRows({ ...parts({}), counts }, all), 41)
  const kept = summary.rows.map(({ hour, destination }) => `${hour.slice(11, 13)} ${destination}`)

  it('those with a difference and the newest ones are kept', () => {
    expect(kept.slice(0, 2)).toEqual(['03 id-7', '22 id-0'])
    expect([kept.length, kept.at(-1), summary.isCut]).toEqual([41, '23 id-9', true])
  })

  it('the totals count all of them', () => {
    expect(summary.totals).toMatchObject({ admitted: 960, delivered: 959, difference: 1 })
  })
})
