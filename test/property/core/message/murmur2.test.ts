import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { murmur2 } from '../../../../src/core/message/murmur2.ts'
import { partitionFor } from '../../../../src/core/message/partition-for-key.ts'

const mask = 0xffff_ffffn
const multiplier = 0x5bd1_e995n

/** The algorithm with integers of any size, which are reduced to 32 bits after each step. */
function reference(bytes: Uint8Array): bigint {
  let hash = 0x9747_b28cn ^ BigInt(bytes.length)
  const whole = bytes.length - (bytes.length % 4)
  for (let at = 0; at < whole; at += 4) {
    let word = BigInt(Buffer.from(bytes).readUInt32LE(at))
    word = (word * multiplier) & mask
    word = ((word ^ (word >> 24n)) * multiplier) & mask
    hash = ((hash * multiplier) & mask) ^ word
  }
  if (whole < bytes.length) {
    bytes.subarray(whole).forEach((byte, place) => {
      hash ^= BigInt(byte) << BigInt(8 * place)
    })
    hash = (hash * multiplier) & mask
  }
  hash = ((hash ^ (hash >> 13n)) * multiplier) & mask
  return BigInt.asIntN(32, hash ^ (hash >> 15n))
}

describe('murmur2', () => {
  it('agrees with arithmetic that cannot overflow', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), bytes => {
        expect(BigInt(murmur2(bytes))).toBe(reference(bytes))
      }),
      { numRuns: 2_000 },
    )
  })

  it('partitions are toPositive(hash) modulo their number', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 1, max: 10_000 }), (bytes, partitions) => {
        const positive = reference(bytes) & 0x7fff_ffffn
        expect(BigInt(partitionFor(Buffer.from(bytes), partitions))).toBe(positive % BigInt(partitions))
      }),
    )
  })
})
