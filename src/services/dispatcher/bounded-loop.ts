import { flowLimits } from '../../core/flow/limits.ts'
import type { Clock } from '../../core/ports.ts'

const { maxPerTick } = flowLimits.dispatch

/**
 * Handles about `remaining` deliveries. Returns how many got no attempt, or `undefined` when no
 * delivery is ready or no permit is free.
 */
export type Step = (remaining: number) => number | undefined

/**
 * Repeats `step` until it returns `undefined`. Continues in the next tick after `maxPerTick`
 * deliveries, because hundreds of deferred deliveries would delay other destinations.
 */
export function createBoundedLoop(clock: Pick<Clock, 'soon'>, step: Step): () => void {
  let isRunning = false
  let isDue = false

  function run(): void {
    // `step` may call this function again, because a dropped delivery ends immediately. The first
    // call continues the loop.
    if (isRunning || isDue) return
    isRunning = true
    let remaining = maxPerTick
    while (remaining > 0) {
      const done = step(remaining)
      if (done === undefined) break
      remaining -= done
    }
    isRunning = false
    if (remaining <= 0) runSoon()
  }

  function runSoon(): void {
    isDue = true
    clock.soon(() => {
      isDue = false
      run()
    })
  }

  return run
}
