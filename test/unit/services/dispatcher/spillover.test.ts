import { describe, expect, it } from '@jest/globals'
import { flowLimits } from '../../../../src/core/flow/limits.ts'
import type { Delivery, DestinationState } from '../../../../src/services/dispatcher/delivery.ts'
import { SpilloverController } from '../../../../src/services/dispatcher/spillover.ts'
import type { PartitionProcessor } from '../../../../src/services/partitions/partition-processor.ts'

const { stallThresholdMs } = flowLimits.prefetch

type Deps = ConstructorParameters<typeof SpilloverController>[0]

/** With no slow queues, and a clock that does nothing, where nothing else is given. */
function spilloverWith({
  clock,
  ...deps
}: Partial<Omit<Deps, 'clock'>> & { readonly clock: Partial<Deps['clock']> }): SpilloverController {
  return new SpilloverController({
    clock: { monotonic: () => 0, after: () => () => {}, soon: () => () => {}, ...clock },
    oldestOpenMs: () => 5_000,
    cpuSaturatedUntil: () => Number.NEGATIVE_INFINITY,
    queues: { findSlow: () => {}, slow: [], drainMatching: () => [] },
    defer: () => {},
    canDefer: () => true,
    isOpen: () => true,
    ...deps,
  })
}

/** Partitions at their limits, of each of which one slow queue has so much, and turns of the event loop that come when they are told to. */
function setUp(waiting: readonly number[]) {
  const processors = waiting.map(() => ({
    ...{ revoked: false, mayStart: true, isPausedFor: () => true, hasOthersThan: () => true, recheckLimits: () => {} },
  }))
  const left = new Map<unknown, number>(processors.map((processor, index) => [processor, waiting[index] ?? 0]))
  let turns: (() => void)[] = []
  let moved = 0
  const spillover = spilloverWith({
    clock: {
      soon(run) {
        turns.push(run)
        return () => {}
      },
    },
    queues: {
      findSlow: () => {},
      slow: [{ destination: 'slow' } as DestinationState],
      drainMatching(_target, processor, most) {
        const out = Math.min(most, left.get(processor) ?? 0)
        left.set(processor, (left.get(processor) ?? 0) - out)
        return Array<Delivery>(out)
      },
    },
    defer: () => {
      moved += 1
    },
  })
  for (const processor of processors) spillover.check(processor as unknown as PartitionProcessor)
  return {
    processors,
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
  const given = { oldestOpenMs, rechecked: 0, looks: [] as number[] }
  let later = (): void => undefined
  const spillover = spilloverWith({
    clock: {
      after(delay, run) {
        given.looks.push(delay)
        later = run
        return () => {}
      },
    },
    oldestOpenMs: () => given.oldestOpenMs,
  })
  const processor = { revoked: false, mayStart: true, isPausedFor: () => true, recheckLimits: () => given.rechecked++ }
  spillover.check(processor as unknown as PartitionProcessor)
  return { given, spillover, later: () => later() }
}

describe('a partition at its limits', () => {
  it('is to look on only when something does not get on', () => {
    expect(setUpHeld(stallThresholdMs - 1).spillover.isStalled).toBe(false)
    expect(setUpHeld(stallThresholdMs).spillover.isStalled).toBe(true)
  })

  it('is looked at again soon, for nothing may end that tells of it, and then knows better', () => {
    const { given, spillover, later } = setUpHeld(stallThresholdMs - 1)
    given.oldestOpenMs = stallThresholdMs
    later()
    expect([spillover.isStalled, given.rechecked, given.looks]).toEqual([true, 2, [20, 250]])
    given.oldestOpenMs = 0
    later()
    expect([spillover.isStalled, given.looks]).toEqual([false, [20, 250, 20]])
  })
})

describe('what slow queues move on', () => {
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
    const { processors, turn, moved } = setUp([100, 100])
    ;(processors[0] as { mayStart: boolean }).mayStart = false
    turn()
    expect(moved()).toBe(128)
    ;(processors[1] as { revoked: boolean }).revoked = true
    turn()
    expect(moved()).toBe(128)
  })
})

it('a delivery that was never attempted stays in its slow queue at the end of its window: it gets that attempt', () => {
  const waiting = [{ isDue: false }, { isDue: true }] as unknown as (Delivery & { isDue: boolean })[]
  const moved: unknown[] = []
  const spillover = spilloverWith({
    clock: {},
    queues: {
      findSlow: () => {},
      slow: [{ destination: 'slow' } as DestinationState],
      drainMatching: (_target, _shard, _most, isWanted) => waiting.filter(isWanted),
    },
    canDefer: delivery => !(delivery as Delivery & { isDue: boolean }).isDue,
    defer: delivery => void moved.push(delivery),
  })
  const processor = {
    revoked: false,
    mayStart: true,
    isPausedFor: () => true,
    hasOthersThan: () => true,
    recheckLimits: () => {},
  }
  spillover.check(processor as unknown as PartitionProcessor)
  expect(moved).toEqual([waiting[0]])
})
