import { expect, it } from '@jest/globals'
import { watchEventLoop } from '../../../src/adapters/event-loop.ts'

it('a process whose event loop never waits is out of CPU', async () => {
  const watch = watchEventLoop()
  // Two looks have passed.
  const busyUntil = performance.now() + 600
  while (performance.now() < busyUntil) await new Promise<void>(resolve => setImmediate(resolve))
  expect(watch.outOfCpuUntil()).toBeGreaterThan(busyUntil - 600)
  watch.stop()
})

it('one that waits is not', async () => {
  const never = Number.NEGATIVE_INFINITY
  let until = 0
  // On a machine that others use it may look too late.
  for (let tries = 0; until !== never && tries < 20; tries++) {
    const watch = watchEventLoop()
    await new Promise<void>(resolve => setTimeout(resolve, 300))
    until = watch.outOfCpuUntil()
    watch.stop()
  }
  expect(until).toBe(never)
})
