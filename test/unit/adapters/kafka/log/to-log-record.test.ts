import { describe, expect, it } from '@jest/globals'
import { toHeaderTexts, toLogRecord, toLogRecordView } from '../../../../../src/adapters/kafka/log/to-log-record.ts'

describe('headers as text', () => {
  it.each([
    { name: 'none', headers: undefined, expected: {} },
    { name: 'an empty list', headers: {}, expected: {} },
    {
      name: 'bytes',
      headers: { attempt: Buffer.from('3'), ünï: Buffer.from('ö') },
      expected: { attempt: '3', ünï: 'ö' },
    },
    { name: 'text', headers: { a: 'b' }, expected: { a: 'b' } },
    {
      name: 'the last value of a repeated name',
      headers: { a: [Buffer.from('1'), Buffer.from('2')] },
      expected: { a: '2' },
    },
    { name: 'no value', headers: { a: undefined }, expected: { a: '' } },
  ])('$name', ({ headers, expected }) => {
    expect(toHeaderTexts(headers)).toEqual(expected)
  })
})

it('copies key and value, so that the response can be freed', () => {
  const fetch = Buffer.alloc(1024 * 1024, 'x')
  const { key, value } = toLogRecord('topic', 0, {
    offset: '5',
    timestamp: '1700000000000',
    key: fetch.subarray(0, 10),
    value: fetch.subarray(10, 510),
  })
  expect([key?.toString(), value?.length]).toEqual(['xxxxxxxxxx', 500])
  for (const bytes of [key, value]) expect(bytes?.buffer.byteLength).toBeLessThanOrEqual(Buffer.poolSize)
})

it.each([
  ['a copy', toLogRecord],
  ['a view', toLogRecordView],
] as const)('%s says that its batch cannot be read', (_, convert) => {
  const unreadBatch = { firstOffset: 3, length: 10, bytes: Buffer.of(1), why: 'too large' }
  const record = convert('topic', 0, { offset: '5', timestamp: '1700000000000', key: null, value: null, unreadBatch })
  expect(record.unreadBatch).toBe(unreadBatch)
  const readable = convert('topic', 0, { offset: '5', timestamp: '1700000000000', key: null, value: null })
  expect(readable).not.toHaveProperty('unreadBatch')
})
