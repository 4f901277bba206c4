import { describe, expect, it } from '@jest/globals'
import { cloggedMs } from '../../../../src/core/delivery/backlog.ts'
import type { Delivery, DestinationLane } from '../../../../src/services/dispatcher/delivery.ts'
import { Relief } from '../../../../src/services/dispatcher/relief.ts'
import type { Shard } from '../../../../src/services/partitions/shard.ts'

type Deps = ConstructorParameters<typeof Relief>[0]

/** With no slow lanes, and a clock that does nothing, where nothing else is given. */
function reliefWith({
  clock,
  ...deps
}: Partial<Omit<Deps, 'clock'>> & { readonly clock: Partial<Deps['clock']> }): Relief {
  return new Relief({
    clock: { monotonic: () => 0, after: () => () => {}, soon: () => () => {}, ...clock },
    oldestOpenMs: () => 5_000,
    outOfCpuUntil: () => Number.NEGATIVE_INFINITY,
    lanes: { findSlow: () => {}, slow: [], takeOut: () => [] },
    moveOn: () => {},
    mayMove: () => true,
    isOpen: () => true,
    ...deps,
  })
}

/** Partitions at their limits, of each of which one slow lane has so much, and turns of the event loop that come when they are told to. */
function setUp(waiting: readonly number[]) {
  const shards = waiting.map(() => ({
    ...{ revoked: false, mayStart: true, holds: () => true, hasOthersThan: () => true, reconsider: () => {} },
  }))
  const left = new Map<unknown, number>(shards.map((shard, index) => [shard, waiting[index] ?? 0]))
  let turns: (() => void)[] = []
  let moved = 0
  const relief = reliefWith({
    clock: {
      soon(run) {
        turns.push(run)
        return () => {}
      },
    },
    lanes: {
      findSlow: () => {},
      slow: [{ destination: 'slow' } as DestinationLane],
      takeOut(_lane, shard, most) {
        const out = Math.min(most, left.get(shard) ?? 0)
        left.set(shard, (left.get(shard) ?? 0) - out)
        return Array<Delivery>(out)
      },
    },
    moveOn: () => {
      moved += 1
    },
  })
  for (const shard of shards) relief.relieve(shard as unknown as Shard)
  return {
    shards,
    moved: () => moved,
    turn() {
      const due = turns
      turns = []
      for (const run of due) run()
    },
  }
}

/** One partition at its limits, which a while ago has taken up the oldest that is not done. */
function setUpHeld(oldestOpenMs: number) {
  const given = { oldestOpenMs, reconsidered: 0, looks: [] as number[] }
  let later = (): void => undefined
  const relief = reliefWith({
    clock: {
      after(delay, run) {
        given.looks.push(delay)
        later = run
        return () => {}
      },
    },
    oldestOpenMs: () => given.oldestOpenMs,
  })
  const shard = { revoked: false, mayStart: true, holds: () => true, reconsider: () => given.reconsidered++ }
  relief.relieve(shard as unknown as Shard)
  return { given, relief, later: () => later() }
}

describe('a partition at its limits', () => {
  it('is to look on only when something does not get on', () => {
    expect(setUpHeld(cloggedMs - 1).relief.isClogged).toBe(false)
    expect(setUpHeld(cloggedMs).relief.isClogged).toBe(true)
  })

  it('is looked at again soon, for nothing may end that tells of it, and then knows better', () => {
    const { given, relief, later } = setUpHeld(cloggedMs - 1)
    given.oldestOpenMs = cloggedMs
    later()
    expect([relief.isClogged, given.reconsidered, given.looks]).toEqual([true, 2, [20, 250]])
    given.oldestOpenMs = 0
    later()
    expect([relief.isClogged, given.looks]).toEqual([false, [20, 250, 20]])
  })
})

describe('what slow lanes move on', () => {
  it('is so much in a turn, of all partitions together', () => {
    const { turn, moved } = setUp([100, 30, 50])
    const after = [moved()]
    for (let count = 0; count < 3; count += 1) {
      turn()
      after.push(moved())
    }
    expect(after).toEqual([64, 128, 180, 180])
  })

  it('stays for the next owner when the partition is given up in between', () => {
    const { shards, turn, moved } = setUp([100, 100])
    ;(shards[0] as { mayStart: boolean }).mayStart = false
    turn()
    expect(moved()).toBe(128)
    ;(shards[1] as { revoked: boolean }).revoked = true
    turn()
    expect(moved()).toBe(128)
  })
})

it('a delivery that was never attempted stays in its slow lane at the end of its window: it gets that attempt', () => {
  const waiting = [{ isDue: false }, { isDue: true }] as unknown as (Delivery & { isDue: boolean })[]
  const moved: unknown[] = []
  const relief = reliefWith({
    clock: {},
    lanes: {
      findSlow: () => {},
      slow: [{ destination: 'slow' } as DestinationLane],
      takeOut: (_lane, _shard, _most, isWanted) => waiting.filter(isWanted),
    },
    mayMove: delivery => !(delivery as Delivery & { isDue: boolean }).isDue,
    moveOn: delivery => void moved.push(delivery),
  })
  const shard = { revoked: false, mayStart: true, holds: () => true, hasOthersThan: () => true, reconsider: () => {} }
  relief.relieve(shard as unknown as Shard)
  expect(moved).toEqual([waiting[0]])
})
