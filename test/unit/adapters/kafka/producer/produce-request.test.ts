import { describe, expect, it } from '@jest/globals'
import {
  batchLength,
  batchLimits,
  isWorthHalving,
  recordBytes,
} from '../../../../../src/adapters/kafka/producer/produce-request.ts'

const of = (...sizes: readonly number[]) => sizes.map(bytes => ({ bytes }))

describe('batchLength', () => {
  it.each([
    { name: 'nothing', queue: of(), expected: 0 },
    { name: 'all when it fits', queue: of(10, 20, 30), expected: 3 },
    { name: 'exactly full', queue: of(batchLimits.bytes / 2, batchLimits.bytes / 2), expected: 2 },
    { name: 'one byte too many', queue: of(batchLimits.bytes / 2, batchLimits.bytes / 2, 1), expected: 2 },
    { name: 'a record too large alone', queue: of(batchLimits.bytes * 2, 1), expected: 1 },
    { name: 'a record too large behind others', queue: of(1, batchLimits.bytes * 2), expected: 1 },
    {
      name: 'as many as are allowed',
      queue: of(...Array<number>(batchLimits.records).fill(1)),
      expected: batchLimits.records,
    },
    {
      name: 'one too many',
      queue: of(...Array<number>(batchLimits.records + 1).fill(1)),
      expected: batchLimits.records,
    },
  ])('$name', ({ queue, expected }) => {
    expect(batchLength(queue)).toBe(expected)
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
  expect(isWorthHalving(code, records)).toBe(expected)
})
