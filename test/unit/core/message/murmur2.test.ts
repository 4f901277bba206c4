import { describe, expect, it } from '@jest/globals'
import { murmur2 } from '../../../../src/core/message/murmur2.ts'

describe('murmur2', () => {
  // The values are those of the test UtilsTest.testMurmur2 of Apache Kafka.
  it.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ])('%s', (key, hash) => {
    expect(murmur2(Buffer.from(key))).toBe(hash)
  })

  it('the empty key', () => {
    expect(murmur2(Buffer.alloc(0))).toBe(275646681)
  })
})
