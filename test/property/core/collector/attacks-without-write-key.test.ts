import { describe, expect, it } from '@jest/globals'
import { type Sending, SimulatedSenders } from '../../../support/collector/simulated-senders-sharing-memory-budget.ts'

const steady = (contentLength: number, ms: number): Sending => ({
  arrivals: Array.from({ length: 11 }, (_, index) => [(ms * index) / 10, Math.ceil((contentLength * index) / 10) || 1]),
  contentLength,
  pauseMs: 200,
})
/**
 * A body whose first bytes arrive together, and the rest slightly faster than the minimum of 1 KiB
 * per 10 s.
 */
const held = (first: number, pauseMs: number, contentLength = 1_000_000): Sending => ({
  arrivals: Array.from({ length: 13 }, (_, index) => [
    9_000 * index,
    Math.min(first + 1_100 * index, contentLength - 1),
  ]),
  contentLength,
  pauseMs,
})
const mebibyte = 1_048_576

describe('during an attack from many client addresses with bodies without a key', () => {
  it.each<[string, addresses: number, Sending]>([
    ['16 KB, 40 MB/s', 3_000, held(16_000, 2_000)],
    ['15 KB in all', 3_000, held(14_000, 2_000, 15_000)],
    ['2 KB in all', 8_000, held(1_500, 5_000, 2_048)],
    ['64 KB, about 128 at a time', 140, held(64_900, 1_000)],
    ['64 KB, 20 MB/s', 3_000, held(64_900, 20_000)],
    ['200 KB, 10 MB/s', 3_000, held(200_000, 60_000)],
    ['1 MB, 15 MB/s', 900, held(999_000, 60_000)],
  ])('honest bodies get memory: %s', (_, addresses, attack) => {
    const senders = new SimulatedSenders(8 * mebibyte)
    const hostile = senders.add(addresses, attack)
    const fast = senders.add(5, steady(200_000, 50))
    const slow = senders.add(50, steady(1_024, 5_000))
    senders.run(12_000)
    expect(hostile.refused).toBeGreaterThan(addresses / 10)
    expect(fast.complete).toBeGreaterThan(200)
    expect(fast.refused).toBeLessThan(0.01 * fast.complete)
    expect(slow.complete).toBeGreaterThan(70)
    expect(slow.refused).toBeLessThan(0.01 * slow.complete)
  })
})
