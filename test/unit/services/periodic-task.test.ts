import { describe, expect, it } from '@jest/globals'
import { durationMs } from '../../../src/core/time.ts'
import { createPeriodicTask } from '../../../src/services/periodic-task.ts'
import { ManualClock, turns } from '../../support/manual-clock.ts'

const second = durationMs(1_000)
function setUp(run: (count: number) => number | Promise<number>) {
  const clock = new ManualClock()
  const at: number[] = []
  const task = createPeriodicTask({
    clock,
    firstRunAfter: second,
    run: async () => durationMs(await run(at.push(clock.monotonic()))),
  })
  return { clock, at, task, pass: (ms: number) => clock.advance(ms, turns) }
}

describe('a periodic task', () => {
  it('runs first after its initial delay, then after the delay that each run returns', async () => {
    const { at, task, pass } = setUp(count => count * second)
    await pass(5 * second)
    expect(at).toEqual([])
    task.start()
    await pass(7 * second)
    expect(at).toEqual([6_000, 7_000, 9_000, 12_000])
  })

  it('does not run again when it is stopped during a run', async () => {
    const { promise, resolve } = Promise.withResolvers<number>()
    const { clock, at, task, pass } = setUp(() => promise)
    task.start()
    await pass(second)
    task.stop()
    resolve(second)
    await pass(10 * second)
    expect(at).toEqual([1_000])
    expect(clock.timers).toBe(0)
  })

  it('does not run when it is stopped before its first run', async () => {
    const { clock, at, task, pass } = setUp(() => second)
    task.start()
    task.stop()
    expect(clock.timers).toBe(0)
    await pass(10 * second)
    expect(at).toEqual([])
  })
})
