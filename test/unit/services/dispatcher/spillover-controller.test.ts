import { describe, expect, it } from '@jest/globals'
import { flowLimits } from '../../../../src/core/flow/flow-control-constants.ts'
import type { Delivery, DestinationState } from '../../../../src/services/dispatcher/delivery.ts'
import { SpilloverController } from '../../../../src/services/dispatcher/spillover-controller.ts'
import type { PartitionProcessor } from '../../../../src/services/partitions/partition-processor.ts'

const { stallThresholdMs } = flowLimits.prefetch

type Deps = ConstructorParameters<typeof SpilloverController>[0]

/** By default, no queue is slow, and timers never fire. */
function spilloverWith({
  clock,
  ...deps
}: Partial<Omit<Deps, 'clock'>> & { readonly clock: Partial<Deps['clock']> }): SpilloverController {
  return new SpilloverController({
    clock: { monotonic: () => 0, after: () => () => {}, soon: () => () => {}, ...clock },
    oldestInProgressMs: () => 5_000,
    cpuSaturatedUntil: () => Number.NEGATIVE_INFINITY,
    queues: { findSlow: () => {}, slow: [], drainMatching: () => [] },
    defer: () => {},
    hasOtherDestinations: () => false,
    isOpen: () => true,
    ...deps,
  })
}

/**
 * Partitions at their limit of records, each with the given number of deliveries in the same slow
 * queue. `turn` runs the next tick.
 */
function setUp(waiting: readonly number[], { hasOthers = true, hasOtherDestinations = false } = {}) {
  const processors = waiting.map(open => ({
    ...{
      revoked: false,
      mayStart: true,
      tracker: { inProgressCount: open },
      isPausedFor: () => true,
      hasRecordForOthers: () => hasOthers,
      recheckLimits: () => {},
    },
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
      drainMatching(_target, processor, max) {
        const out = Math.min(max, left.get(processor) ?? 0)
        left.set(processor, (left.get(processor) ?? 0) - out)
        return Array<Delivery>(out)
      },
    },
    defer: () => {
      moved += 1
    },
    hasOtherDestinations: () => hasOtherDestinations,
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

/**
 * One partition at its limit of records. `oldestInProgressMs` is the age of its oldest record in
 * progress.
 */
function setUpHeld(oldestInProgressMs: number) {
  const given = { oldestInProgressMs, rechecked: 0, looks: [] as number[] }
  let later = (): void => undefined
  const spillover = spilloverWith({
    clock: {
      after(delay, run) {
        given.looks.push(delay)
        later = run
        return () => {}
      },
    },
    oldestInProgressMs: () => given.oldestInProgressMs,
  })
  const processor = {
    revoked: false,
    mayStart: true,
    tracker: { inProgressCount: 1 },
    isPausedFor: () => true,
    recheckLimits: () => given.rechecked++,
  }
  spillover.check(processor as unknown as PartitionProcessor)
  return { given, spillover, later: () => later() }
}

describe('a partition at its limits', () => {
  it('prefetches more only while a record is stalled', () => {
    expect(setUpHeld(stallThresholdMs - 1).spillover.isStalled).toBe(false)
    expect(setUpHeld(stallThresholdMs).spillover.isStalled).toBe(true)
  })

  it('is checked again soon without an event, and notices a stall then', () => {
    const { given, spillover, later } = setUpHeld(stallThresholdMs - 1)
    given.oldestInProgressMs = stallThresholdMs
    later()
    expect([spillover.isStalled, given.rechecked, given.looks]).toEqual([true, 2, [20, 250]])
    given.oldestInProgressMs = 0
    later()
    expect([spillover.isStalled, given.looks]).toEqual([false, [20, 250, 20]])
  })
})

describe('spillover of slow queues', () => {
  it('is limited per tick, for all partitions together', () => {
    const { turn, moved } = setUp([100, 30, 50])
    const after = [moved()]
    for (let count = 0; count < 3; count += 1) {
      turn()
      after.push(moved())
    }
    expect(after).toEqual([64, 128, 180, 180])
  })

  it('stops when the partition is revoked, and leaves the rest to the next owner', () => {
    const { processors, turn, moved } = setUp([100, 100])
    ;(processors[0] as { mayStart: boolean }).mayStart = false
    turn()
    expect(moved()).toBe(128)
    ;(processors[1] as { revoked: boolean }).revoked = true
    turn()
    expect(moved()).toBe(128)
  })
})

describe('a partition whose records are all for one slow destination', () => {
  it.each([
    ['keeps them when no other destination is configured', false, 0],
    ['spills a quarter of them when another one is', true, 75],
  ])('%s', (_, hasOtherDestinations, spilled) => {
    const { turn, moved } = setUp([300], { hasOthers: false, hasOtherDestinations })
    turn()
    turn()
    expect(moved()).toBe(spilled)
  })
})
