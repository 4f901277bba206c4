import { describe, expect, it } from '@jest/globals'
import {
  hourOf,
  LedgerCounts,
  ledgerFields,
  ledgerResults,
  readLedgerCounts,
} from '../../../../src/core/ledger/ledger-counts.ts'
import {
  type LedgerRecord,
  parseLedgerRecord,
  readChain,
} from '../../../../src/core/ledger/ledger-record-and-chain-reading.ts'
import { epochMs } from '../../../../src/core/time.ts'

const bytesOf = (counts: LedgerCounts): Buffer => {
  const bytes: number[] = []
  counts.write(bytes)
  return Buffer.from(bytes)
}
const some = (): LedgerCounts => {
  const counts = new LedgerCounts()
  for (const [index, field] of ledgerFields.entries()) counts.add('crm-é', 490_000 + (index % 2), field, 10 ** index)
  counts.add('', 0, 'delivered', Number.MAX_SAFE_INTEGER)
  return counts
}

it('keeps the order of the fields, which is stored, and has a bit for each of them in one byte', () => {
  expect(ledgerFields).toEqual([
    ...['admitted', 'delivered', 'dead_lettered', 'dropped', 'moved'],
    ...['taken', 'replayed', 'routed'],
  ])
  expect(ledgerResults).toEqual(['delivered', 'dead_lettered', 'dropped', 'moved'])
  expect(ledgerFields.length).toBeLessThanOrEqual(8)
})

it('reads what it writes', () => {
  const read = readLedgerCounts({ bytes: bytesOf(some()), at: 0 })
  expect([...(read as LedgerCounts).cells()]).toEqual([...some().cells()])
})

it('removes what was added, and keeps its size', () => {
  const counts = some()
  const half = counts.copyPart(1)
  expect([...half.cells()]).toHaveLength(1)
  counts.merge(half)
  counts.subtract(half)
  expect([[...counts.cells()], counts.roughBytes]).toEqual([[...some().cells()], some().roughBytes])
  counts.subtract(some())
  expect([counts.isEmpty, counts.roughBytes]).toEqual([true, 0])
})

it('refuses bytes that end early, at every length', () => {
  const bytes = bytesOf(some())
  for (let length = 0; length < bytes.length; length++)
    expect(readLedgerCounts({ bytes: bytes.subarray(0, length), at: 0 })).toBeUndefined()
})

it('puts a record without a timestamp into the first hour', () => {
  expect([-1, 3_599_999, 3_600_000].map(time => hourOf(epochMs(time)))).toEqual([0, 0, 1])
})

it('refuses records of other programs', () => {
  const value = bytesOf(some())
  const headers = { 'previous-offset': '12', 'hour-before': '7' }
  expect(parseLedgerRecord({ value, headers })).toMatchObject({ previousOffset: 12, hourBefore: 7 })
  expect(parseLedgerRecord({ value, headers: { 'previous-offset': '12' } })).toBeUndefined()
  expect(parseLedgerRecord({ value, headers: { 'previous-offset': 'x' } })).toBeUndefined()
  expect(parseLedgerRecord({ value: null, headers: {} })).toBeUndefined()
})

describe('a chain of records', () => {
  const record = (previousOffset: number | undefined, hourBefore = 0): LedgerRecord => ({
    previousOffset,
    hourBefore,
    counts: some(),
  })
  const first = record(undefined)

  it.each<readonly [string, readonly (readonly [number, LedgerRecord | 'expired'])[], boolean, readonly number[]]>([
    [
      'with all records is complete',
      [
        [5, record(2, 9)],
        [2, first],
      ],
      true,
      [5, 2],
    ],
    ['without the last record is not complete', [[2, first]], false, [5]],
    ['without an earlier record is not complete', [[5, record(2, 9)]], false, [5, 2]],
    [
      'whose beginning has expired is complete',
      [
        [5, record(2, 9)],
        [2, 'expired'],
      ],
      true,
      [5, 2],
    ],
    [
      'is read only until the wanted hours',
      [
        [5, record(2, 8)],
        [2, first],
      ],
      true,
      [5],
    ],
    ['that names a record of a deleted topic is not complete', [[5, record(7, 9)]], false, [5]],
    ['is complete when the record of a deleted topic has only earlier hours', [[5, record(7, 8)]], true, [5]],
  ])('%s', async (_, records, isComplete, read) => {
    const asked: number[] = []
    const known = new Map(records)
    const recordAt = async (offset: number) => {
      asked.push(offset)
      return known.get(offset)
    }
    const tail = { exactSince: 0, last: 5, newestHour: 9 }
    expect(await readChain(tail, { since: 9, recordAt, onCounts: () => undefined })).toBe(isComplete)
    expect(asked).toEqual(read)
  })
})
