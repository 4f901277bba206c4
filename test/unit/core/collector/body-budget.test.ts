import { describe, expect, it } from '@jest/globals'
import { BodyBudget, type BodyRefusal } from '../../../../src/core/collector/memory-budget.ts'

interface Held {
  /** `-` for an unknown source. */
  readonly source: string
  readonly address?: string
  readonly bytes: number
  readonly ageMs?: number
  readonly isReceived?: boolean
}

/**
 * Opens bodies of these ages and then requests memory for one more. Limits in bytes: 150 for
 * authenticated bodies, 60 without a key, 90 per address.
 */
function ask(before: readonly Held[], newcomer: Held) {
  let now = 0
  const refused: BodyRefusal[] = []
  const budget = new BodyBudget(
    { authenticated: 150, keyless: 60, perAddress: 90 },
    () => now,
    cause => refused.push(cause),
  )
  const evicted: number[] = []
  const open = ({ source, address = source }: Held, index: number) =>
    budget.open({ sourceId: source === '-' ? undefined : source, address }, () => evicted.push(index))
  const oldest = Math.max(0, ...before.map(({ ageMs = 0 }) => ageMs))
  const sorted = [...before.entries()].sort(([, a], [, b]) => (b.ageMs ?? 0) - (a.ageMs ?? 0))
  for (const [index, held] of sorted) {
    now = oldest - (held.ageMs ?? 0)
    const body = open(held, index)
    expect(body.take(held.bytes)).toBe(true)
    if (held.isReceived === true) body.received()
  }
  now = oldest
  const isTaken = open(newcomer, -1).take(newcomer.bytes)
  return { isTaken, evicted, refused }
}

const slow = { ageMs: 60_000 }

describe('fair shares of the body budget', () => {
  it.each<[string, readonly Held[], Held, { isTaken: boolean; evicted: number[]; refused: BodyRefusal[] }]>([
    [
      'room for all',
      [{ source: 'a', bytes: 50 }],
      { source: 'b', bytes: 50 },
      { isTaken: true, evicted: [], refused: [] },
    ],
    [
      'a newcomer within its share evicts a body of the source beyond its share',
      [
        { source: 'a', address: 'x', bytes: 40 },
        { source: 'a', address: 'y', bytes: 35, ageMs: 5 },
        { source: 'b', bytes: 20 },
      ],
      { source: 'b', address: 'z', bytes: 25 },
      { isTaken: true, evicted: [1], refused: ['budget'] },
    ],
    [
      'a body that was received is not evicted',
      [
        { source: 'a', bytes: 70, isReceived: true },
        { source: 'b', bytes: 20 },
      ],
      { source: 'b', bytes: 30 },
      { isTaken: false, evicted: [], refused: ['budget'] },
    ],
    [
      'a source beyond its share loses its own slow body, not the newcomer',
      [{ source: 'a', address: 'x', bytes: 70, ...slow }],
      { source: 'a', address: 'y', bytes: 20 },
      { isTaken: true, evicted: [0], refused: ['budget'] },
    ],
    [
      'the newcomer is refused when the other body of its source has just begun',
      [{ source: 'a', address: 'x', bytes: 70 }],
      { source: 'a', address: 'y', bytes: 20 },
      { isTaken: false, evicted: [], refused: ['budget'] },
    ],
    [
      'one source leaves as much memory free as it holds',
      [{ source: 'a', address: 'x', bytes: 75 }],
      { source: 'a', address: 'y', bytes: 1 },
      { isTaken: false, evicted: [], refused: ['budget'] },
    ],
    [
      'a small body of another source gets memory beside complete bodies of two sources',
      [
        { source: 'a', bytes: 75, isReceived: true },
        { source: 'b', bytes: 37, isReceived: true },
      ],
      { source: 'c', bytes: 10 },
      { isTaken: true, evicted: [], refused: [] },
    ],
    [
      'the slow small body is evicted before the fast large one',
      [
        { source: 'a', address: 'x', bytes: 50, ageMs: 1_000 },
        { source: 'a', address: 'y', bytes: 20, ...slow },
      ],
      { source: 'a', address: 'z', bytes: 10 },
      { isTaken: true, evicted: [1], refused: ['budget'] },
    ],
    [
      'bodies without a key never take the memory of sources',
      [{ source: '-', address: 'x', bytes: 30 }],
      { source: 'a', bytes: 75 },
      { isTaken: true, evicted: [], refused: [] },
    ],
    [
      'bodies without a key share their memory by address',
      [{ source: '-', address: 'x', bytes: 30 }],
      { source: '-', address: 'y', bytes: 20 },
      { isTaken: true, evicted: [0], refused: ['budget'] },
    ],
    [
      'one address has its maximum over all sources',
      [
        { source: 'a', address: 'x', bytes: 45 },
        { source: 'b', address: 'x', bytes: 40 },
      ],
      { source: 'c', address: 'x', bytes: 10 },
      { isTaken: false, evicted: [], refused: ['address'] },
    ],
    [
      'an address at its maximum loses its own slow body',
      [
        { source: 'a', address: 'x', bytes: 45, ...slow },
        { source: 'b', address: 'x', bytes: 40 },
      ],
      { source: 'c', address: 'x', bytes: 10 },
      { isTaken: true, evicted: [0], refused: ['address'] },
    ],
  ])('%s', (_, before, newcomer, expected) => {
    expect(ask(before, newcomer)).toEqual(expected)
  })

  it('a body counts for its source when that is known, and gets no more memory after its eviction', () => {
    let now = 0
    const budget = new BodyBudget(
      { authenticated: 150, keyless: 60, perAddress: 200 },
      () => now,
      () => {},
    )
    const body = budget.open({ sourceId: undefined, address: 'x' }, () => {})
    expect([body.take(30), body.assign('a'), body.take(45)]).toEqual([true, true, true])
    expect(budget.held).toEqual({ authenticated: 75, keyless: 0 })
    now = 5_000
    const newcomer = budget.open({ sourceId: 'b', address: 'y' }, () => {})
    expect(newcomer.take(40)).toBe(true)
    expect([body.take(1), body.assign('c')]).toEqual([false, false])
    body.release()
    newcomer.release()
    expect(budget.held).toEqual({ authenticated: 0, keyless: 0 })
  })
})
