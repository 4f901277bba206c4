import { describe, expect, it } from '@jest/globals'
import {
  batchLimits,
  nextBatchLength,
  recordBytes,
  shouldSplitBatch,
} from '../../../../../src/adapters/kafka/producer/batch-and-record-limits.ts'

const of = (...sizes: readonly number[]) => sizes.map(bytes => ({ bytes }))

describe('nextBatchLength', () => {
  it.each([
    { name: 'an empty queue', queue: of(), expected: 0 },
    { name: 'records that all fit', queue: of(10, 20, 30), expected: 3 },
    { name: 'a batch that is exactly full', queue: of(batchLimits.bytes / 2, batchLimits.bytes / 2), expected: 2 },
    { name: 'one byte above the limit', queue: of(batchLimits.bytes / 2, batchLimits.bytes / 2, 1), expected: 2 },
    { name: 'a first record above the limit', queue: of(batchLimits.bytes * 2, 1), expected: 1 },
    { name: 'a later record above the limit', queue: of(1, batchLimits.bytes * 2), expected: 1 },
    {
      name: 'the maximum number of records',
      queue: of(...Array<number>(batchLimits.records).fill(1)),
      expected: batchLimits.records,
    },
    {
      name: 'one record above the maximum number',
      queue: of(...Array<number>(batchLimits.records + 1).fill(1)),
      expected: batchLimits.records,
    },
  ])('$name', ({ queue, expected }) => {
    expect(nextBatchLength(queue)).toBe(expected)
  })
})

it('recordBytes counts everything and rounds up', () => {
  const value = Buffer.alloc(100)
  const bare = recordBytes({ key: null, value, headers: {} })
  expect(bare).toBeGreaterThanOrEqual(100)
  const headers = { ünï: 'ö' }
  expect(recordBytes({ key: Buffer.alloc(7), value, headers })).toBeGreaterThanOrEqual(
    bare + 7 + Buffer.byteLength('ünïö'),
  )
})

it.each([
  { code: 'MESSAGE_TOO_LARGE', records: 2, expected: true },
  { code: 'MESSAGE_TOO_LARGE', records: 1, expected: false },
  { code: 'INVALID_RECORD', records: 9, expected: true },
  { code: 'NOT_LEADER_FOR_PARTITION', records: 9, expected: false },
])('$code for $records records: halved $expected', ({ code, records, expected }) => {
  expect(shouldSplitBatch(code, records)).toBe(expected)
})
