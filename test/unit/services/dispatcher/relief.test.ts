import { describe, expect, it } from '@jest/globals'
import type { Delivery } from '../../../../src/services/dispatcher/delivery.ts'
import type { DestinationLane } from '../../../../src/services/dispatcher/lanes.ts'
import { Relief } from '../../../../src/services/dispatcher/relief.ts'
import type { Shard } from '../../../../src/services/partitions/shard.ts'

/** Partitions at their limits, of each of which one slow lane has so much, and turns of the event loop that come when they are told to. */
function setUp(waiting: readonly number[]) {
  const shards = waiting.map(() => ({ revoked: false, mayStart: true, holds: () => true, hasOthersThan: () => true }))
  const left = new Map<unknown, number>(shards.map((shard, index) => [shard, waiting[index] ?? 0]))
  let turns: (() => void)[] = []
  let moved = 0
  const relief = new Relief({
    clock: {
      monotonic: () => 0,
      after: () => () => {},
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
    isOpen: () => true,
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
