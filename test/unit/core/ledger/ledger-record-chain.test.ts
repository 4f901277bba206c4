import { expect, it } from '@jest/globals'
import { LedgerCounts, readLedgerCounts } from '../../../../src/core/ledger/ledger-counts.ts'
import { type PendingRecord, RecordChain } from '../../../../src/core/ledger/ledger-record-chain.ts'

/** Counts of `destinations` destinations, beginning with number `first`. */
function countsOf(destinations: number, hour = 490_000, first = 0): LedgerCounts {
  const counts = new LedgerCounts()
  for (let index = first; index < first + destinations; index++) {
    counts.add(`destination-${index}`, hour, 'admitted')
    counts.add(`destination-${index}`, hour, 'delivered')
  }
  return counts
}

function store(chain: RecordChain, counts: LedgerCounts, offset: number): PendingRecord {
  const batch = chain.next(counts)
  chain.stored(batch, offset)
  return batch
}

function admittedIn({ value }: PendingRecord): number {
  const cells = readLedgerCounts({ bytes: value, at: 0 })?.cells() ?? []
  return [...cells].reduce((sum, [, , { admitted }]) => sum + admitted, 0)
}

it('absorbs seven previous records of the same owner, and names the one before them', () => {
  const chain = new RecordChain(7, 489_000)
  for (let offset = 10; offset < 17; offset++) {
    const small = store(chain, countsOf(50), offset)
    const [previous, hourBefore] = offset === 10 ? [7, 489_000] : [offset - 1, 490_000]
    expect([small.previousOffset, small.hourBefore, admittedIn(small)]).toEqual([previous, hourBefore, 50])
  }
  const large = store(chain, countsOf(50), 17)
  expect([large.previousOffset, large.hourBefore, admittedIn(large)]).toEqual([7, 489_000, 400])
  expect([chain.last, chain.newestHour]).toEqual([17, 490_000])
})

it('does not write a large record again for few counts', () => {
  const chain = new RecordChain(undefined, 0)
  store(chain, countsOf(1_000), 1)
  const small = store(chain, countsOf(50), 2)
  expect([small.previousOffset, small.hourBefore, admittedIn(small)]).toEqual([1, 490_000, 50])
})

it('does not become larger than 512 KiB', () => {
  const chain = new RecordChain(undefined, 0)
  for (let offset = 0; offset < 7; offset++) store(chain, countsOf(5_000, 490_000 + offset), offset)
  // A record usually absorbs the counts of the seven records before it. With all seven, this one
  // would exceed 512 KiB.
  const full = store(chain, countsOf(5_000, 490_007), 7)
  expect([full.previousOffset, full.absorbed, full.value.length < 512 * 1_024]).toEqual([0, 6, true])
})

it('absorbs no record after a failure', () => {
  const chain = new RecordChain(undefined, 0)
  for (let offset = 0; offset < 7; offset++) store(chain, countsOf(50), offset)
  expect(chain.next(countsOf(50)).absorbed).toBe(7)
  chain.failed()
  expect(chain.next(countsOf(50))).toMatchObject({ previousOffset: 6, absorbed: 0 })
})
