import { createHash } from 'node:crypto'

export interface Chance {
  /** Both limits are included. */
  between(low: number, high: number): number
  /** @throws RangeError when there are no items */
  pick<T>(items: readonly T[]): T
}

/**
 * Creates a generator of random numbers. They depend only on `seed` and `name`, so a scenario gets
 * the same faults alone and after others.
 */
export function createChance(seed: number, name: string): Chance {
  let state = createHash('sha256').update(`${seed} ${name}`).digest().readUInt32LE()
  // mulberry32. Its 32 bits of state are enough for a few hundred choices.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  return {
    between,
    pick(items) {
      if (items.length === 0) throw new RangeError('nothing to pick from')
      return items[between(0, items.length - 1)]!
    },
  }
}
