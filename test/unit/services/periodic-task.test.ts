import { describe, expect, it } from '@jest/globals'
import { durationMs } from '../../../src/core/units.ts'
import { createPeriodicTask } from '../../../src/services/periodic-task.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const second = durationMs(1_000)
const turns = () => new Promise<void>(setImmediate)

function setUp(turn: (count: number) => number | Promise<number>) {
  const clock = new ManualClock()
  const at: number[] = []
  const chore = createPeriodicTask({
    clock,
    firstAfter: second,
    turn: async () => durationMs(await turn(at.push(clock.monotonic()))),
  })
  return { clock, at, chore, pass: (ms: number) => clock.advance(ms, turns) }
}

describe('a chore', () => {
  it('has its first turn when it is told to, and each further one when the last has said', async () => {
    const { at, chore, pass } = setUp(count => count * second)
    await pass(5 * second)
    expect(at).toEqual([])
    chore.start()
    await pass(7 * second)
    expect(at).toEqual([6_000, 7_000, 9_000, 12_000])
  })

  it('that is stopped within a turn has no other', async () => {
    const { promise, resolve } = Promise.withResolvers<number>()
    const { clock, at, chore, pass } = setUp(() => promise)
    chore.start()
    await pass(second)
    chore.stop()
    resolve(second)
    await pass(10 * second)
    expect(at).toEqual([1_000])
    expect(clock.timers).toBe(0)
  })

  it('that is stopped before its first turn has none', async () => {
    const { clock, at, chore, pass } = setUp(() => second)
    chore.start()
    chore.stop()
    expect(clock.timers).toBe(0)
    await pass(10 * second)
    expect(at).toEqual([])
  })
})
